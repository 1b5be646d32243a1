/** All detectors over a failed run. Pure: the same run gives the same findings. */
import type { FailedCase } from './case.ts';
import { brokenParts } from './detectors/broken-parts.ts';
import { circles } from './detectors/circles.ts';
import { harshWords } from './detectors/harsh-words.ts';
import { missedOptions } from './detectors/missed-options.ts';
import { missingVariables } from './detectors/missing-variables.ts';
import { skippedSteps } from './detectors/skipped-steps.ts';
import { testItself } from './detectors/test-itself.ts';
import { transferNumbers } from './detectors/transfer-numbers.ts';
import { unreachableNodes } from './detectors/unreachable-nodes.ts';
import { unsaidWords } from './detectors/unsaid-words.ts';
import { wording } from './detectors/wording.ts';
import { wrongTurns } from './detectors/wrong-turns.ts';
import { type Finding, ranked } from './finding.ts';

const detectors: readonly ((failed: FailedCase) => Finding[])[] = [
  skippedSteps,
  missedOptions,
  wrongTurns,
  circles,
  unreachableNodes,
  missingVariables,
  transferNumbers,
  harshWords,
  brokenParts,
  testItself,
  unsaidWords,
  wording,
];

/** Most certain first. */
export function detect(failed: FailedCase): Finding[] {
  return ranked(detectors.flatMap((detector) => detector(failed)));
}
