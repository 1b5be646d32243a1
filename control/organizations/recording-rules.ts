/** What to record, as the API takes and shows it (contract 9.7). Pure. */
import type { RecordingSettings } from '#shared/api/recordings.ts';
import type { RecordingChoice } from '#shared/edge-protocol/recordings.ts';
import { ApiError } from '#shared/errors.ts';

/** @param path of the settings in the body @throws ApiError INVALID_PARAMETER */
export function readRecording(settings: RecordingSettings, path: string): RecordingChoice {
  const { mode, announcement = 'none', announcement_text = null, pause_key = null } = settings;
  if (announcement === 'spoken' && !announcement_text?.trim())
    throw ApiError.invalid(`${path}/announcement_text`, 'required with announcement spoken');
  return { mode, announcement, announcement_text, pause_key };
}
