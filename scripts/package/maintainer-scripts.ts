/** What dpkg runs around an installation, an upgrade, a removal and a purge. */
import { dataFolder, homeOf, type Plan, settingsFileOf, user } from './plan.ts';

export interface MaintainerScripts {
  readonly postinst: string;
  readonly prerm: string;
  readonly postrm: string;
}

export function maintainerScripts(plan: Plan): MaintainerScripts {
  return { postinst: postinst(plan), prerm: prerm(plan), postrm: postrm(plan) };
}

const head = '#!/bin/sh\nset -e\n';
const isSystemd = '[ -d /run/systemd/system ]';

/** The edge waits for a control plane: without one here or named, starting it would only fill the log. */
function starts({ program, name }: Plan): string {
  const start = `deb-systemd-invoke start ${name}.service || true`;
  if (program === 'control') return `    ${start}`;
  return `    if [ -e /usr/lib/trunkline-control/package.json ] || grep -q '^CONTROL_URL=.' /etc/trunkline/edge.env; then
      ${start}
    else
      echo 'trunkline-edge: set CONTROL_URL and EDGE_TOKEN in /etc/trunkline/edge.env, then: systemctl start trunkline-edge'
    fi`;
}

/** Both packages have the command `trunkline`; with both, it is that of control, which has all commands. */
function alternatives(plan: Plan): string {
  const home = homeOf(plan);
  return `  mkdir -p /usr/share/man/man1 /usr/share/bash-completion/completions
  update-alternatives --quiet --install /usr/bin/trunkline trunkline ${home}/bin/trunkline ${plan.priority} \\
    --slave /usr/share/man/man1/trunkline.1.gz trunkline.1.gz ${home}/share/trunkline.1.gz \\
    --slave /usr/share/bash-completion/completions/trunkline trunkline.completion ${home}/share/trunkline.bash`;
}

function postinst(plan: Plan): string {
  const { name } = plan;
  const settings = settingsFileOf(plan);
  return `${head}
case "$1" in
configure | abort-upgrade | abort-remove | abort-deconfigure)
  if ! getent passwd ${user} >/dev/null; then
    adduser --quiet --system --group --no-create-home --home ${dataFolder} ${user}
  fi
  # Settings can have secrets. Owners that an administrator has chosen stay.
  for path in /etc/trunkline ${settings}; do
    if [ -e "$path" ] && [ "$(stat -c %G "$path")" = root ]; then
      chgrp ${user} "$path"
      chmod o= "$path"
    fi
  done
  if [ ! -e ${dataFolder} ]; then
    install -d -m 0700 -o ${user} -g ${user} ${dataFolder}
  fi
${alternatives(plan)}
  # Enables the unit once; a later choice of the administrator stays.
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper unmask ${name}.service >/dev/null || true
    if deb-systemd-helper --quiet was-enabled ${name}.service; then
      deb-systemd-helper enable ${name}.service >/dev/null || true
    else
      deb-systemd-helper update-state ${name}.service >/dev/null || true
    fi
  fi
  if ${isSystemd}; then
    systemctl --system daemon-reload >/dev/null || true
${starts(plan)}
  fi
  ;;
esac
`;
}

/** Stopped before its files are replaced: a program loads some of its files only when it needs them. */
function prerm(plan: Plan): string {
  const { name } = plan;
  return `${head}
case "$1" in
remove | upgrade | deconfigure)
  if ${isSystemd}; then
    deb-systemd-invoke stop ${name}.service || true
  fi
  ;;
esac
case "$1" in
remove | deconfigure)
  update-alternatives --quiet --remove trunkline ${homeOf(plan)}/bin/trunkline
  ;;
esac
`;
}

/**
 * A removal keeps data and settings. A purge takes the settings (dpkg does that) and, when the other package is not there
 * either, the data; backups in it and the user, whom they belong to, stay.
 */
function postrm({ name, other }: Plan): string {
  return `${head}
if [ "$1" = remove ] && ${isSystemd}; then
  systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper purge ${name}.service >/dev/null || true
    deb-systemd-helper unmask ${name}.service >/dev/null || true
  fi
  # Both packages use one data folder: the last one to be purged takes it.
  state=$(dpkg-query -W -f='\${db:Status-Status}' ${other} 2>/dev/null || true)
  if [ -z "$state" ] || [ "$state" = not-installed ]; then
    if [ -d ${dataFolder} ] && [ ! -L ${dataFolder} ]; then
      find ${dataFolder} -xdev -mindepth 1 -maxdepth 1 ! -name backups -exec rm -rf {} +
      rmdir ${dataFolder}/backups 2>/dev/null || true
      rmdir ${dataFolder} 2>/dev/null || echo "${name}: kept: $(ls -d ${dataFolder}/* | tr '\\n' ' ')"
    fi
    rmdir /etc/trunkline 2>/dev/null || true
  fi
fi
`;
}
