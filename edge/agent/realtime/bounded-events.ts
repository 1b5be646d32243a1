/** What a model server says, as much of it as the edge takes: the server may be anybody's. */
import { counted } from '#shared/counted.ts';
import type { SessionEvents } from './model-session.ts';

/** Characters of the words of one turn; the rest is left out. */
const longestTurn = 20_000;
/** Characters of the id of an answer or of a tool's call, and of a tool's name. Providers use 40 or less. */
const longestId = 256;
/** Characters of a problem, or of why a session ends; the rest is left out. */
const longestProblem = 500;

const isName = (text: string) => text.length <= longestId;

export function bounded(events: SessionEvents): SessionEvents {
  return {
    ...events,
    room: (item) => isName(item) && events.room(item),
    sound: (item, samples) => {
      if (isName(item)) events.sound(item, samples);
    },
    soundOver: (item) => {
      if (isName(item)) events.soundOver(item);
    },
    words: (item, more) => {
      if (isName(item)) events.words(item, more.slice(0, longestTurn));
    },
    said: (item, text) => {
      if (isName(item)) events.said(item, text?.slice(0, longestTurn) ?? null);
    },
    heard: (text) => events.heard(text.slice(0, longestTurn)),
    tool: (call) => {
      if (isName(call.id) && isName(call.name)) return events.tool(call);
      events.problem(`a tool is called with an id or a name of more than ${counted(longestId, 'character')}`);
      return false;
    },
    toolCancelled: (id) => {
      if (isName(id)) events.toolCancelled(id);
    },
    ending: (why) => events.ending(why.slice(0, longestProblem)),
    problem: (why) => events.problem(why.slice(0, longestProblem)),
    failed: (why) => events.failed(why.slice(0, longestProblem)),
  };
}
