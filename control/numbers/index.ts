/** Numbers that organizations hold, and their settings. */
export { agentSettingsOf, transferTargets } from './agent-settings.ts';
export {
  changeNumber,
  isTimezone,
  type NumberChange,
  type NumberSettings,
  numbersOfPath,
  numberView,
  readSettings,
  readUpdate,
} from './rules.ts';
export {
  archiveNumber,
  everHeld,
  findNumber,
  holdNumber,
  listNumbers,
  pageOfNumbers,
  updateNumber,
} from './store.ts';
export { checkTransferTargets, readDialedTarget, readTarget } from './transfer-targets.ts';
export { storeChange } from './write.ts';
