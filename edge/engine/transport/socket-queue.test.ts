import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { SocketQueue } from './socket-queue.ts';

function queue() {
  const done: Socket[] = [];
  const turns: (() => void)[] = [];
  const left = { room: Number.POSITIVE_INFINITY };
  const sockets = new SocketQueue(
    4,
    (socket) => {
      left.room--;
      done.push(socket);
    },
    () => left.room,
    (work) => turns.push(work),
  );
  const add = (group: string, count: number): Socket[] =>
    Array.from({ length: count }, () => {
      const socket = new Socket();
      sockets.add(group, socket);
      return socket;
    });
  /** The sockets that are done in the next turn; null: no turn is due. */
  const turn = (): Socket[] | null => {
    const work = turns.shift();
    if (!work) return null;
    work();
    return done.splice(0);
  };
  const makeRoom = (room: number): void => {
    left.room = room;
    sockets.resume();
  };
  return { add, turn, makeRoom };
}

it('does so many sockets a turn, in order, and rests when none waits', () => {
  const { add, turn } = queue();
  const sockets = add('carrier', 10);
  expect([turn(), turn(), turn(), turn()]).toEqual([
    sockets.slice(0, 4),
    sockets.slice(4, 8),
    sockets.slice(8),
    null,
  ]);
  const later = add('carrier', 1);
  expect(turn()).toEqual(later);
});

it('lets groups take turns, so that a storm of one does not delay another', () => {
  const { add, turn } = queue();
  const storm = add('strangers', 1_000);
  turn();
  const carrier = add('carrier', 2);
  expect(turn()).toEqual([storm[4], carrier[0], storm[5], carrier[1]]);
});

it('spends no turn on connections that have closed', () => {
  const { add, turn } = queue();
  const sockets = add('carrier', 20);
  for (const socket of sockets.slice(0, 18)) socket.destroy();
  expect(turn()).toEqual(sockets.slice(18));
  expect(turn()).toBeNull();
});

it('rests without room, and goes on when there is some', () => {
  const { add, turn, makeRoom } = queue();
  makeRoom(5);
  const sockets = add('carrier', 8);
  expect([turn(), turn(), turn()]).toEqual([sockets.slice(0, 4), sockets.slice(4, 5), null]);
  const later = add('carrier', 1);
  expect(turn()).toBeNull();
  makeRoom(2);
  expect([turn(), turn()]).toEqual([sockets.slice(5, 7), null]);
  makeRoom(4);
  expect([turn(), turn()]).toEqual([[...sockets.slice(7), ...later], null]);
});
