/** Wants something, answers questions from what it knows, and leaves once it has it. */
import { plainText } from '../../judging/lexicon.ts';
import { givesUp } from '../../judging/settled.ts';
import { personAsked } from '../asked.ts';
import { contradicts, names, offered } from '../compare.ts';
import { type Fact, factsFor, plainWords } from '../facts.ts';
import type { Heard, MenuChoice } from '../hearing.ts';
import { Invented } from '../invented.ts';
import { misheard } from '../mishearing.ts';
import type { CallerMove } from '../ports.ts';
import { neutralGoal } from '../profile.ts';
import { askedFor } from '../slots.ts';
import { type CallerBehavior, type CallerBehaviorParts, leave, say } from './behavior.ts';

export class Cooperative implements CallerBehavior {
  readonly #parts: CallerBehaviorParts;
  readonly #invented: Invented;
  #statedGoal = false;
  /** The agent has called, so it is the one who wants something. */
  #called = false;
  #patience: number;
  #echoes = 1;
  #lastTold: readonly Fact[] = [];
  #last = '';
  readonly #heardBefore = new Map<string, number>();

  constructor(parts: CallerBehaviorParts) {
    this.#parts = parts;
    this.#invented = new Invented(parts.chance, parts.profile.text);
    this.#patience = parts.profile.patience;
  }

  next(heard: Heard): CallerMove {
    const { wording } = this.#parts;
    if (this.#wearsOut(heard)) {
      return leave('This is not getting us anywhere. Goodbye.', givesUp.patience);
    }
    if (heard.menu.length > 0) return { type: 'keys', keys: this.#chosen(heard.menu).keys };
    const begun = this.#statedGoal || this.#called;
    if (begun && heard.done && askedFor(heard.questions.join(' '), this.#parts.profile.facts).length === 0) {
      return leave(wording.way('done'), 'The caller has what it came for.');
    }
    if (begun && heard.goodbye) return leave(wording.way('farewell'), 'The agent said goodbye.');
    return this.#echo(heard) ?? this.answer(heard);
  }

  /** The answer to a question, without leaving. */
  answer(heard: Heard): CallerMove {
    const move = this.#answer(heard);
    if (move.type === 'say') this.#last = move.text;
    return move;
  }

  /** The goal has already been stated for it. */
  statedGoal(): void {
    this.#statedGoal = true;
  }

  #answer(heard: Heard): CallerMove {
    const { profile, wording } = this.#parts;
    const { requests } = heard;
    const person = this.#person(heard);
    if (person !== null) return say(person);
    // What is read back may stand before the question: "Account number 471108. Is that right?"
    const question = heard.readsBack ? heard.text : heard.questions.join(' ');
    const options = offered(question, profile.facts);
    const asked = options.length > 0 ? options : this.#asked(heard, question);
    if (requests.includes('spell')) return say(this.#spelled(asked));
    if (requests.includes('last four')) return say(this.#lastFour(heard.text, asked));
    if (asked.length === 0) {
      const request = this.#request(heard);
      if (request !== null) return say(request);
    }
    if (this.#wantsGoal(heard, asked, options.length > 0)) return this.#goal(asked);
    if (asked.length > 0) return say(this.#told(heard, question, asked));
    if (heard.questions.length > 0 && /\bor\b/i.test(heard.text)) return say(this.#either(heard.text));
    if (heard.questions.length > 0 && heard.yesOrNo) return say(this.#yesOrNo(heard, question));
    if (heard.questions.some((one) => /\?$/.test(one))) {
      this.#patience--;
      return say(wording.way('unknown'));
    }
    if (heard.text === '') return say(wording.way('silence'));
    return say(this.#called && !this.#statedGoal ? wording.way('goOn') : wording.way('fine'));
  }

  #person({ outbound, text }: Heard): string | null {
    const { name, facts } = this.#parts.profile;
    const own = name ?? facts.find(({ key }) => /^(?:full )?name$/.test(key))?.value ?? null;
    const asked = personAsked(text.slice(-300), own);
    if (asked !== null || outbound) this.#called = true;
    const { wording } = this.#parts;
    if (asked === 'self') {
      const me = own?.split(/\s+/)[0] ?? '';
      return wording.fresh([
        `Yes, this is ${own}.`,
        'Yes, speaking.',
        `Yes, this is ${me}.`,
        "Yes, that's me.",
      ]);
    }
    if (asked === 'other' && own !== null) {
      return wording.fresh([`No, this is ${own}.`, `No, you are speaking with ${own}.`]);
    }
    return null;
  }

  /** Facts that the line asks for; what everybody knows about themselves is made up. */
  #asked(heard: Heard, question: string): Fact[] {
    const { facts, name } = this.#parts.profile;
    const wanted = askedFor(question, facts);
    if (wanted.length > 0) return wanted;
    if (heard.readsBack) return factsFor(question, facts);
    if (heard.opensFloor || heard.questions.length === 0) return [];
    const made = this.#invented.factFor(question, name);
    return made ? [made] : [];
  }

  #request({ opensFloor, requests, text }: Heard): string | null {
    const { wording } = this.#parts;
    if (opensFloor) return null;
    if (requests.includes('repeat') && this.#last !== '') {
      const [only, ...others] = this.#lastTold;
      if (only && others.length === 0) return wording.insisted(only);
      if (others.length > 0) return wording.told(this.#lastTold);
      return this.#statedGoal ? wording.goalAgain(this.#parts.profile.goal) : this.#last;
    }
    if (requests.includes('hearing')) return wording.way('here');
    if (requests.includes('hold')) return wording.way('hold');
    if (requests.includes('bad time')) return this.#talks(wording.way('notBad'));
    if (requests.includes('good time')) {
      if (hasNoTime.test(this.#parts.profile.text))
        return this.#talks(wording.fresh(['No, I have no time.', "No, sorry, I don't have time for that."]));
      return this.#talks(wording.way('goOn'));
    }
    const unanswered = this.#called && !this.#statedGoal && !/\?/.test(text);
    return unanswered && this.#parts.profile.goal === neutralGoal ? wording.way('goOn') : null;
  }

  #talks(words: string): string {
    this.#called = true;
    return words;
  }

  #wantsGoal(heard: Heard, asked: readonly Fact[], isOffer: boolean): boolean {
    if (heard.opensFloor && !(asked.length > 0 && this.#statedGoal)) return true;
    if (this.#statedGoal) return heard.requests.includes('listening') && asked.length === 0;
    if (heard.text === '') return true;
    // "Is it about an order, or shall I connect you?" asks what the call is about, not for an order.
    const choice =
      heard.yesOrNo && !isOffer && heard.questions.some((one) => /\bor\b/i.test(one)) && !this.#called;
    return choice || (asked.length === 0 && !(this.#called && heard.questions.length > 0));
  }

  #goal(asked: readonly Fact[]): CallerMove {
    const { profile, wording } = this.#parts;
    const { goal, name } = profile;
    if (this.#statedGoal) return say(wording.goalAgain(goal));
    this.#statedGoal = true;
    this.#lastTold = [];
    const asksName = name !== null && asked.some(({ key }) => /\bname$/.test(key));
    return say(asksName ? `My name is ${name}. ${goal}` : wording.goal(goal));
  }

  /** The values, or yes or no to "So that is for 3 nights, right?". */
  #told(heard: Heard, question: string, asked: readonly Fact[]): string {
    const { wording } = this.#parts;
    const closed = heard.yesOrNo || heard.readsBack;
    if (closed && !/\bor\b/i.test(question)) {
      const wrong = contradicts(question, asked);
      if (wrong) return wording.denied([wrong]);
      if (asked.every((fact) => names(question, fact))) return wording.way('right');
      if (heard.readsBack && saysValue(question)) return wording.denied(asked);
    }
    const again = asked.length === 1 && this.#lastTold[0] === asked[0] && this.#lastTold.length === 1;
    this.#lastTold = asked;
    const [only] = asked;
    return again && only ? wording.insisted(only) : wording.told(asked);
  }

  #yesOrNo(heard: Heard, question: string): string {
    const { profile, wording } = this.#parts;
    const wrong = contradicts(question, profile.facts);
    if (wrong) {
      this.#lastTold = [wrong];
      return wording.denied([wrong]);
    }
    return wording.way(heard.readsBack ? 'right' : 'yes');
  }

  /** "Morning or afternoon?" */
  #either(question: string): string {
    const { chance, profile, wording } = this.#parts;
    const said = question.split(/(?<=[.!?])\s+/).findLast((one) => /\bor\b/i.test(one)) ?? question;
    const found =
      /(?:\b(?:the|a|an|in|by|on|for|is|prefer|want|with|better|it|come|like),? )?([\p{L}\d' -]{1,30}?),? or (?:in the |the |an? |by |on |for |in )?([\p{L}\d' -]{1,30}?)(?: (?:slot|better|instead))?[?.]/iu.exec(
        said,
      );
    const options = [found?.[1], found?.[2]].flatMap((one) => (one === undefined ? [] : [lastWords(one)]));
    const wanted = plainWords(profile.text);
    const fitting = options.filter((one) => plainWords(one).some((word) => wanted.includes(word)));
    const [fits] = fitting;
    const option = fits ?? (options.length > 0 ? chance.pick(options) : 'the first one');
    return wording.fresh([`${option}, please.`, `I'd prefer ${option}.`, `${option} is better for me.`]);
  }

  #spelled(asked: readonly Fact[]): string {
    const [fact] = asked.length > 0 ? asked : this.#lastTold;
    const text = fact?.value ?? this.#parts.profile.name ?? '';
    if (text === '') return this.#parts.wording.way('unknown');
    const letters = text.split(/\s+/).map((word) => [...word.toUpperCase()].join('-'));
    return `It's spelled ${letters.join(', ')}.`;
  }

  #lastFour(text: string, asked: readonly Fact[]): string {
    const { facts } = this.#parts.profile;
    const told = facts.filter(({ key }) => /\blast (?:four|4|three|3|two|2)\b/.test(key));
    const asksFor = new Set(plainWords(text));
    const shared = ({ key }: Fact) => plainWords(key).filter((word) => asksFor.has(word)).length;
    const [own] = told.toSorted((one, other) => shared(other) - shared(one));
    if (own) return `It's ${own.value}.`;
    const numbers = (asked.length > 0 ? asked : [...askedFor(text, facts), ...facts]).filter(
      ({ value }) => value.replaceAll(/\D/g, '').length >= 4,
    );
    const digits = numbers[0]?.value.replaceAll(/\D/g, '').slice(-4);
    return digits === undefined ? this.#parts.wording.way('unknown') : `It's ${digits}.`;
  }

  /** Mistakes a word of the agent, and asks. Seldom, and not twice in a call. */
  #echo({ readsBack, text }: Heard): CallerMove | null {
    const { chance, manner } = this.#parts;
    if (this.#echoes === 0 || !readsBack || chance.next() >= manner.mishears) return null;
    const mistake = misheard(text, chance);
    if (!mistake) return null;
    this.#echoes--;
    return say(`Sorry, did you say ${mistake.heardAs}?`);
  }

  /** Repetition of the same line exhausts a caller's patience. */
  #wearsOut({ text }: Heard): boolean {
    const plain = plainText(text);
    const times = (this.#heardBefore.get(plain) ?? 0) + 1;
    this.#heardBefore.set(plain, times);
    if (times > 1) this.#patience--;
    return this.#patience <= 0;
  }

  #chosen(menu: readonly MenuChoice[]): MenuChoice {
    const { goal, text } = this.#parts.profile;
    const score = (words: readonly string[], label: string) =>
      plainWords(label).filter((word) => words.includes(word)).length;
    const [goalWords, allWords] = [plainWords(goal), plainWords(text)];
    const ranked = menu
      .map((choice) => ({
        choice,
        score: 10 * score(goalWords, choice.label) + score(allWords, choice.label),
      }))
      .sort((a, b) => b.score - a.score);
    const person = menu.find(({ label }) =>
      /\b(?:operator|representative|agent|person|other|else)\b/i.test(label),
    );
    const [best] = ranked;
    if (best && best.score > 0) return best.choice;
    return person ?? best?.choice ?? { keys: '0', label: '' };
  }
}

const hasNoTime =
  /\byou (?:have no|do not have|don't have|don’t have)(?: any| the)? time(?! to (?:lose|waste))\b/i;

/** Whether a question has something that could be a value: a number, or a name. */
function saysValue(question: string): boolean {
  return /\d/.test(question) || /[a-z,] \p{Lu}\p{Ll}+/u.test(question.replaceAll(/\bI\b/g, ''));
}

function lastWords(option: string): string {
  return option
    .trim()
    .split(/\s+/)
    .slice(-2)
    .filter(
      (word) => !/^(?:the|a|an|in|by|on|for|is|prefer|you|want|it|offer|do|with|better|come)$/i.test(word),
    )
    .join(' ');
}
