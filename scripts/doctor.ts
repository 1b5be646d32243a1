/** `npm run doctor`: checks this machine and the settings of its programs, and says what to do. */
import { doctor } from './doctor/command.ts';

process.exitCode = await doctor(process.argv.slice(2), process.env, {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  coloured: process.stdout.isTTY === true && !process.env.NO_COLOR,
});
