/** Settings and the folder of data. */
import { lstatSync } from 'node:fs';
import { pathExists } from '#shared/path-exists.ts';
import { checkDataFolder, StartFailed } from '../supervisor/before-start.ts';
import { type Check, type Finding, failed, ok, warning } from './check.ts';
import type { Place, Read } from './place.ts';

const page = 'correct it; docs/settings.md has all settings';

function settingsOf(read: Read<unknown>): Finding {
  return 'settings' in read ? ok('all can be used') : failed(read.reason, page);
}

/** The folder of each program that has settings, once. */
export function foldersOf({ scope, edge, control }: Place): string[] {
  const folders = [
    ...(scope.has('edge') && 'settings' in edge ? [edge.settings.dataDir] : []),
    ...(scope.has('control') && 'settings' in control ? [control.settings.dataFolder] : []),
  ];
  return [...new Set(folders)];
}

function dataFolderOf(place: Place): Finding {
  const folders = foldersOf(place);
  const missing = folders.filter((folder) => !pathExists(folder));
  for (const folder of folders) {
    try {
      checkDataFolder(folder);
    } catch (error) {
      if (error instanceof StartFailed) return failed(error.message, error.remedy);
      throw error;
    }
  }
  const open = folders.filter((folder) => pathExists(folder) && (lstatSync(folder).mode & 0o077) !== 0);
  if (open.length > 0) {
    return warning(
      `other users can read ${open.join(', ')}`,
      `chmod 700 ${open.join(' ')}, or start the program, which does it for a folder of its own`,
    );
  }
  if (missing.length > 0) return ok(`${missing.join(', ')} does not exist yet: the first start makes it`);
  return ok(`${folders.join(', ') || 'none is known'}: everything in it can be used by this user`);
}

export const edgeSettingChecks: readonly Check[] = [
  {
    name: 'settings.edge',
    program: 'edge',
    about: 'The settings of the edge, read as at its start.',
    bad: 'A value cannot be used, or a setting is of an earlier version.',
    run: ({ edge }) => settingsOf(edge),
  },
];

export const controlSettingChecks: readonly Check[] = [
  {
    name: 'settings.control',
    program: 'control',
    about: 'The settings of the control plane, read as at its start.',
    bad: 'A value cannot be used, or a setting is of an earlier version.',
    run: ({ control }) => settingsOf(control),
  },
];

export const folderChecks: readonly Check[] = [
  {
    name: 'data.folder',
    program: 'both',
    about: 'The data folder and the files of the programs in it, for the user that runs the doctor.',
    bad: 'A file belongs to another user or is a folder (failed); other users can read the folder (warning).',
    run: dataFolderOf,
  },
];
