/** Records in real time until it is killed, and prints the number of each frame that was handed over: folder, id. */
import { writeSync } from 'node:fs';
import { systemClock } from '#shared/clock.ts';
import { DiskRoom } from '../../../edge/media/recording/disk-room.ts';
import { DiskSync } from '../../../edge/media/recording/disk-sync.ts';
import { LegRecorder } from '../../../edge/media/recording/leg-recorder.ts';
import { recordingOrder } from '../edge/recordings.ts';

const [folder = '', id = ''] = process.argv.slice(2);
const room = new DiskRoom(1_000_000_000);
const recorder = new LegRecorder(recordingOrder(id), {
  clock: systemClock,
  folder,
  room,
  syncs: new DiskSync(systemClock),
});
const end = recorder.tap({ sampleRate: 8000, read: () => false });
const frame = new Int16Array(160);
let frames = 0;
const begun = performance.now();
const turn = () => {
  while ((frames + 1) * 20 <= performance.now() - begun) {
    frames++;
    end.read(frame);
    end.write?.(frame.fill(1_000));
    writeSync(1, `${frames}\n`);
  }
  setTimeout(turn, 5);
};
turn();
