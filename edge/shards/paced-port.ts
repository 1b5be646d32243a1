import { type Pace, pacedReader } from '#shared/paced-reader.ts';
import type { Port } from './channel.ts';

/** A port whose messages are read a few in a turn. The sender bounds how many wait: it counts those not read (`Channel`). */
export function paced(port: Port, pace?: Pace): Port {
  return {
    post: (message) => port.post(message),
    listen: (receive) => port.listen(pacedReader(receive, pace)),
  };
}
