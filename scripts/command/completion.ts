/** Bash completion, from the table of commands. */
import type { CommandRow } from './table.ts';

/** @param rows of this installation */
export async function bashCompletion(rows: readonly CommandRow[]): Promise<string> {
  const cases = await Promise.all(rows.map(caseOf));
  return `# bash completion of trunkline, made from its table of commands
_trunkline() {
  local words='' word=\${COMP_WORDS[COMP_CWORD]}
  if ((COMP_CWORD == 1)); then
    words='${[...rows.map(({ name }) => name), 'completion', '--help', '--version'].join(' ')}'
  else
    case \${COMP_WORDS[1]} in
${cases.join('\n')}
    completion) words='bash' ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _trunkline trunkline
`;
}

async function caseOf({ name, options, phrases }: CommandRow): Promise<string> {
  const flags = [...options, 'help'].map((option) => `--${option}`).join(' ');
  if (!phrases) return `    ${name}) words='${flags}' ;;`;
  const seconds = new Map<string, string[]>();
  for (const { text } of await phrases()) {
    const [first = '', second = ''] = text.split(' ');
    seconds.set(first, [...(seconds.get(first) ?? []), second]);
  }
  const inner = [...seconds].map(([first, words]) => `        ${first}) words='${words.join(' ')}' ;;`);
  return `    ${name})
      if ((COMP_CWORD == 2)); then
        words='${[...seconds.keys()].join(' ')} --help'
      elif ((COMP_CWORD == 3)); then
        case \${COMP_WORDS[2]} in
${inner.join('\n')}
        esac
      else
        words='${flags}'
      fi
      ;;`;
}
