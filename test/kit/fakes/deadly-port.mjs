/**
 * For `--import`: a program whose connection to the port DEADLY_PORT ends it, as a fault of a client would. DEADLY_WAY:
 * `abort` at once, `throw` past the caller.
 */
import { Socket } from 'node:net';

const { connect } = Socket.prototype;
const deadly = Number(process.env.DEADLY_PORT);

function portOf([first]) {
  const options = Array.isArray(first) ? first[0] : first;
  return Number(typeof options === 'object' ? options?.port : options);
}

Socket.prototype.connect = function (...args) {
  if (portOf(args) !== deadly) return connect.apply(this, args);
  if (process.env.DEADLY_WAY === 'abort') process.abort();
  setImmediate(() => {
    throw new Error('a client has thrown past its caller');
  });
  // Never connected: the caller waits until the program has ended.
  return this;
};
