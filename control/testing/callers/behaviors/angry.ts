/** Complains loudly; answers once taken seriously, calms down when that happens again, and gets angrier when not. */
import { givesUp } from '../../judging/settled.ts';
import type { Heard } from '../hearing.ts';
import type { CallerMove } from '../ports.ts';
import { type CallerBehavior, type CallerBehaviorParts, leave, say } from './behavior.ts';
import { Cooperative } from './cooperative.ts';

const openings = [
  'This is unacceptable! I have called twice already and nobody called back.',
  'I am furious! I have been waiting for weeks and nobody cares.',
  'This is ridiculous! I have had enough of being ignored.',
];
const rising = [
  'You are not even listening to me! This is unacceptable.',
  'I am getting really angry now. What are you going to do about it?',
  'This is outrageous. I want to speak to a manager!',
];
const easing = ['Well, it is still frustrating. But go on.', 'Fine. But I am still upset about this.'];

/** A concrete step counts like a kind word. */
const step =
  /\b(?:put (?:it|this) right|right away|let me (?:see|check|look|fix|help)|i will (?:see|check|make|call|send|refund)|refund|manager will)\b/i;

/** 0 calm .. 6 hangs up */
const start = 3;

export class Angry implements CallerBehavior {
  readonly #parts: CallerBehaviorParts;
  readonly #calm: Cooperative;
  #anger = start;
  #begun = false;
  #acknowledged = 0;

  constructor(parts: CallerBehaviorParts) {
    this.#parts = parts;
    this.#calm = new Cooperative(parts);
  }

  next(heard: Heard): CallerMove {
    const { chance, profile } = this.#parts;
    if (!this.#begun) {
      this.#begun = true;
      this.#calm.statedGoal();
      return say(`${chance.pick(openings)} ${profile.goal}`);
    }
    this.#feel(heard);
    if (this.#anger >= 6) return leave('That is it, I am done with you!', givesUp.anger);
    const asked = heard.questions.length > 0 && !heard.opensFloor && !heard.dismisses;
    const heardOut = this.#acknowledged >= 2 || (this.#acknowledged === 1 && asked);
    if (heardOut || this.#anger <= 1) return this.#calm.next(heard);
    if (heard.acknowledges) return say(chance.pick(easing));
    return say(chance.pick(rising));
  }

  #feel(heard: Heard): void {
    if (heard.dismisses) this.#anger += 2;
    else if (heard.acknowledges || step.test(heard.text)) {
      this.#acknowledged++;
      this.#anger--;
    } else if (this.#acknowledged === 0) this.#anger++;
  }
}
