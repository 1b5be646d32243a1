/** The screens that the role can see, in groups. On a phone they are behind one button. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ScreenName } from '#shared/console-paths.ts';
import { isOperator, session } from '../api/session.ts';
import { address, pathTo, place } from '../router.ts';
import { texts } from '../text/texts.ts';

type LinkName = Exclude<keyof typeof texts.nav, 'label' | 'menu' | 'groups'>;
/** Each link with the screens that belong to it besides its own. */
type NavLink = readonly [name: LinkName & ScreenName, ...others: ScreenName[]];
type NavGroup = readonly [title: string, links: readonly NavLink[]];

const { groups } = texts.nav;

const ofOperators: readonly NavGroup[] = [
  [groups.deployment, [['edges', 'overview'], ['ports', 'port'], ['sessions']]],
];

const ofCustomers: readonly NavGroup[] = [
  [groups.calls, [['overview'], ['live'], ['calls', 'call'], ['refused']]],
  [groups.trunks, [['trunks', 'trunk'], ['connect'], ['alerts'], ['ports', 'port']]],
  [
    groups.agents,
    [
      ['pathways', 'pathway'],
      ['personas'],
      ['agents', 'agent'],
      ['tests', 'test'],
      ['runs', 'run'],
      ['sets', 'set'],
      ['matrices', 'matrix'],
      ['loads', 'load'],
      ['watches', 'watch'],
      ['quality', 'pathwayQuality'],
      ['tools', 'tool'],
      ['widgets', 'widget'],
    ],
  ],
  [groups.organization, [['organization'], ['keys'], ['sessions'], ['deliveries'], ['changes']]],
];

/** Only admins see keys. */
function isSeen([name]: NavLink): boolean {
  return name !== 'keys' || session.value?.role === 'admin';
}

export function Navigation() {
  const open = useSignal(false);
  const { screen } = place.value;
  useEffect(() => {
    open.value = false;
    document.querySelector('#screens [aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [address.value]);
  return (
    <>
      <button
        type="button"
        class="menu-button"
        aria-expanded={open.value}
        aria-controls="screens"
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {texts.nav.menu}
      </button>
      <nav id="screens" class={open.value ? 'open' : undefined} aria-label={texts.nav.label}>
        {(isOperator.value ? ofOperators : ofCustomers).map(([title, links]) => (
          <div key={title} class="group">
            <p class="group-title quiet">{title}</p>
            {links.filter(isSeen).map(([name, ...others]) => (
              <a
                key={name}
                href={pathTo(name)}
                {...((screen === name || others.some((one) => one === screen)) && {
                  'aria-current': 'page' as const,
                })}
              >
                {texts.nav[name]}
              </a>
            ))}
          </div>
        ))}
      </nav>
    </>
  );
}
