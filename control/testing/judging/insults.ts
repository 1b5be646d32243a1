/**
 * Whether a line insults somebody, as far as rules can tell: not by single words, but by who is called what. "You are an
 * idiot" is an insult; "You are not an idiot", "I feel like an idiot" and "Two tickets for The Idiot" are not. Its errors
 * on labelled lines are in docs/agent-testing.md.
 */
import { degree, doubtful, names, things, traits } from './insult-words.ts';

const person =
  '(?:you(?: people| lot| guys| two| all)?|he|she|they|my colleagues?|(?:the|our|this|that|last|first|other) (?:\\w+ )?(?:caller|customer|man|woman|lady|guy|person|driver|technician)|your (?:husband|wife|mother|father|son|daughter|boss|friend|brother|sister|kind)|people like you|customers like you)';
const be =
  "(?: really| truly| clearly| honestly| obviously| always| still)?(?:'re|'s| are| is| were| was| must be| sound(?:s)?| look(?:s)?| seem(?:s)?| act(?:s)?| have to be| could be| smell(?:s)? like)";
/** A whole word, without a complement: not a thief in a novel, not a child of a member. */
const word = (alternatives: string) => `(?:${alternatives})(?![\\w'-]| of an? | in (?:the|a|your) )`;

/** Each is an insult wherever it occurs outside of a quotation or a title. */
const forms: readonly RegExp[] = [
  // Called a name: "you are an idiot", "you idiot", "what an idiot", "No, stupid", "Liar."
  `\\b${person}${be},? ${degree}(?:\\w+ )?${word(names)}`,
  `\\b${person}${be},? ${degree}${word(things)}(?! (?:seat|ticket|fare|account|mask))`,
  `\\byou,? (?:are |all |absolute |complete |stupid |pathetic |filthy |fat |old |lazy |little |ugly |cheap |incompetent |ignorant |worthless |useless |gullible |miserable |damn |bloody |utter |total )*${word(`${names}|${things}`)}(?! (?:at|on|for|in|from|up|out|a|the|it|your)\\b)`,
  `\\byou (?:${traits}|poor|cheap|filthy|little|old) (?:\\w+ )?(?:man|woman|lady|person|people|thing|cow|girl|boy|kid)\\b`,
  `\\bwhat an? (?:\\w+ )?${word(names)}`,
  `\\b(?:another|such an?|not? talk to|talk(?:ing)? to|dealing with|breath on|listen to|serve|kind of) (?:an? |such |the |a )*(?:\\w+ )?${word(`${names}|stupid|dumb person`)}`,
  `\\b(?:nobody|no one|who|how|it must be|to be|you must be) (?:could|can|would|must|hard|have)* ?(?:to )?(?:be )?(?:this|so|that) (?:${traits})\\b`,
  `\\bhow (?:${traits}) (?:do|must|are) you\\b|\\bwhat are you, (?:${traits})`,
  `\\bembarrassing yourself\\b|\\bpathetic whining\\b|\\byour tiny\\b`,
  `^(?:an? )?(?:${traits}|miserable) (?:little |old |small )*(?:man|woman|person|lady|people|creature)\\b`,
  `\\byou (?:smell|stink|reek)\\b(?! (?:gas|smoke|something|anything|burning))|\\b(?:hopeless|pointless|useless) to (?:explain|tell|talk|say) .{0,30}\\byou\\b|\\byou(?:'re| are) (?:beyond help|not worth)\\b`,
  `\\bwhat an? (?:${traits}) (?:person|man|woman|question|idea|thing|remark|caller|customer|little)\\b`,
  `^(?:no|yes|wrong(?: again)?|whatever|hello|listen|look|nice try|well done|bravo|silence|honestly|really|hey|ok|okay|next time),? (?:you )?${word(`${names}|genius|einstein|sherlock|woman|clown`)}`,
  `^(?:such |you |a |an |complete |total )*${word(names)}$`,
  `^(?:${traits})(?:,| as | old | little |$)(?! that)`,
  `, (?:you )?${word(`${names}|dummy|genius|einstein|sherlock|woman|clown|beggar|peasant`)}(?:,|$)`,
  `\\b(?:only|just) an? (?:complete |total )?(?:${names}|child|monkey)\\b`,
  `\\b(?:time|patience|room|money) for (?:${names})\\b`,
  `\\b(?:${names}|${things}) like you\\b`,
  // Said to be so: "you are stupid", "how stupid can you be"
  `\\b${person}${be},? ${degree}${word(traits)}(?! (?:not to|down|enough to get|if we|with joy|about|content|to (?:get|recover|arrive|apply|hear|see|recover))\\b)`,
  `\\bare ${person},? ${degree}${word(`${traits}|deaf|blind|drunk|out of your mind`)}(?! or | to )`,
  `\\bare ${person},? (?:deaf|blind|stupid|dumb|slow) or (?:just|what|stupid|dumb|deaf|blind|pretending)`,
  `\\bhow (?:stupid|dumb|dense|thick|slow|hard|lazy|difficult) (?:can|could) (?:you|one|anyone|a|it)\\b`,
  `\\b(?:dumbest|stupidest|most (?:stupid|annoying|pathetic|ridiculous)|worst) (?:person|caller|customer|man|woman|thing i)\\b`,
  `\\b(?:you're|you are) not (?:exactly |really )?(?:very |too |the |that |a )*(?:bright|sharpest|smart|smartest|clever|brightest|genius|intelligent)\\b`,
  `\\b(?:don't|do not|stop|quit) be(?:ing)? (?:so |such |a |an )*(?:${traits}|${names}|baby|difficult|child)\\b`,
  `\\byour (?:own )?(?:\\w+ )?(?:idea|question|complaint|opinion|remarks?|plan|story|accent|voice|money|excuses?|manners|face|behavio(?:u)?r)(?: (?:is|are|was|sounds?) (?!not )(?:so |just |really |a )*(?:${traits}|${things}|awful|terrible|horrible|nonsense)\\b| (?:stinks?|hurts? my))`,
  `\\byour (?:own )?(?:stupid|dumb|pathetic|ridiculous|idiotic|silly|worthless|useless|damn|lame)(?:er|est)? (?!little brother|waiter|bell)\\w+`,
  `\\byour (?:own )?(?:stupidity|ignorance|incompetence|laziness|sob story|nonsense|whining)\\b`,
  `\\b(?:i hate|i can't stand|i cannot stand|i despise|nobody likes|no one likes|we don't (?:serve|want)|we do not (?:serve|want)) (?:${names}|beggars|you|talking to you|people like you|customers like you|your (?:kind|voice|face|sort))\\b(?! to)`,
  `\\byou (?:disgust|sicken|bore|annoy) me\\b|\\byou make me sick\\b|\\bsick of (?:you|your|people like you)\\b`,
  // Sent away
  `\\b(?:shut up|shut it|shut your (?:mouth|face|trap)|hold your tongue|get lost|get a life|drop dead|go to hell|screw you|damn you|piss off|bugger off|buzz off|sod off|kiss my ass|cry me a river|boo hoo|go cry|who would ever|cut the crap|bullshit|fuck\\w*|spare me your|watch your (?:mouth|tongue)|be quiet, (?:woman|man|old|you)|go back to where you (?:came|come) from|mind your own)\\b`,
  `\\b(?:stop|quit) (?:whining|crying|moaning|whingeing|bothering us|wasting my)\\b|\\bgrow up(?:,|$)`,
  `\\bnobody (?:cares|asked)(?:,|$| about (?:your?)| for your (?:opinion|advice))`,
  `\\blearn (?:to|how to) (?:listen|read|count|think|speak|spell|behave|write)(?:,|$| before| properly| first)`,
  `\\buse your (?:brain|head|ears|eyes)(?:,|$| for)`,
  // Asked what is no question
  `\\bwhat(?:'s| is| the hell is| on earth is) (?:wrong|the matter) with (?:you|people)\\b`,
  `^(?:are|were) you (?:out of your mind|born yesterday$|dropped on|serious$)`,
  `^(?:can't|can) you (?:even )?(?:read|count|think|listen|hear|speak)$`,
  `^(?:don't|do|can't|can) you even (?:understand|speak|read|write|know|listen|hear|think)\\b|^(?:don't|can't) you (?:understand|speak) (?:plain |proper |any )*english`,
  `\\bhow (?:many times|often) (?:do|must|should) i (?:have to |need to )?(?:tell|say|repeat|explain)\\b`,
  `\\b(?:what|which) part of .{1,60} (?:don't|do) you not? ?(?:understand|get)\\b`,
  `\\b(?:do|does) (?:you|he|she|they) (?:even )?have a (?:brain|clue)\\b|\\byou have no (?:clue|idea about|brain|manners|shame)\\b`,
  `\\b(?:did|has) (?:nobody|no one|anybody|your mother) (?:ever )?(?:teach|taught|tell|told) you\\b`,
  `\\b(?:do|must|should) i (?:need to |have to )?(?:draw|paint) you\\b|\\blike (?:for|to) an? (?:toddler|child|baby|five-year-old|idiot)\\b`,
  `\\bis (?:that|this|it) (?:too|so) (?:difficult|hard|complicated|much) for you(?:r brain| to understand)?\\b`,
  `\\bso (?:that )?even (?:you|people like you|an? (?:child|idiot|fool))\\b`,
  `\\bput an adult on\\b|\\banybody home\\b|\\bsomeone who can think\\b`,
  // Compared
  `\\b(?:a|any|even a|even my|my) (?:child|toddler|monkey|dog|five-year-old|six-year-old|toaster|cat|grandmother) (?:could|can|knows?|understands?|would|has more)\\b(?! (?:travel|come|enter|stay|have|be|get|ride|play)\\b)`,
  `\\bany(?:one|body) with (?:half )?a brain\\b|\\bany(?:one|body)? (?:normal|sane|intelligent|sensible) (?:person|human|being|man)\\b|\\b(?:nobody|no one|who) in (?:their|his|her) right mind\\b`,
  `\\b(?:smarter|brighter|more sense|more brains?|slower|dumber|uglier) than (?:you|my (?:grandmother|dog|toaster))\\b|\\bmemory of a\\b|\\bbrain (?:must be|is) the size\\b|\\bthick as\\b|\\bdumb as\\b|\\bif brains were\\b|\\bbrain cells?\\b`,
  `\\blike talking to a (?:wall|brick|child)|\\btalking to you is\\b|\\bsharpest (?:knife|tool)\\b`,
  `\\b(?:you|your) (?:people|lot|kind) (?:are all|always|never|only)\\b|\\byou (?:foreigners|women|men|old people|immigrants|pensioners)\\b|\\btypical (?:woman|man|women|men|foreigner|pensioner)\\b|\\bfor (?:a|an) (?:woman|foreigner)\\b|\\bfor someone your age\\b|\\bpeople like you are the reason\\b`,
  `\\byou(?:'re| are) too (?:old|stupid|slow|dumb|lazy|dense|thick|young) (?:to (?:understand|get|use|learn|know)|for (?:this|that|us))\\b`,
  `\\b(?:that|with) (?:your|kind of) (?:kind of )?intelligence\\b|\\bsurprised (?:that )?you can\\b|\\bwonder how you (?:manage|dress|survive|ever)\\b`,
  // Wished ill, threatened, blamed
  `\\bi hope (?:you|he|she|they|it|your \\w+) (?:choke|chokes|die|dies|crash|crashes|suffer|rot|fall|never)\\b|\\byou will die\\b`,
  `\\byou(?:'ll| will) (?:regret this|regret it|be sorry|pay for this)\\b|^i know where you (?:live|work|sleep)|\\bor else(?:,|$)|\\bi will find you\\b|\\bhurt you$`,
  `\\bserves you right\\b|\\byou deserve (?:nothing|it|this|to be (?:without|alone|robbed|in)|what happened)\\b|\\bno wonder (?:your|you|nobody|everyone|they)\\b|\\bblame yourself\\b`,
  `\\bshame on you\\b|\\byou (?:should|ought to) be ashamed\\b|\\bas expected from you\\b|\\bnamely you\\b`,
  `\\byou (?:would not|wouldn't|can't|cannot|could not|couldn't) (?:even )?(?:understand(?: it)?(?: anyway|$)|get it|find your own|remember your own|think straight)\\b|\\b(?:can't|cannot|can not|couldn't) even (?:spell|read|write|count|remember|think|tell)\\b|^go (?:bother|annoy|away|play in)\\b`,
  `\\byou know nothing\\b|\\byou never (?:read|learn|listen|think)\\b|\\bthink too little\\b|\\byou never finished school\\b|\\b(?:failed|finish(?:ed)?) (?:at )?school(?:,|$)`,
  `\\byou (?:finally )?managed to (?:say|spell|read|find|remember|count)\\b|\\byou finally (?:got it|understood|managed)\\b|\\byou call that\\b`,
  `\\bforget your (?:pills|medicine)\\b|\\bbelong in an? (?:asylum|zoo|cage|home)\\b|\\bdrinking again\\b|\\bdropped on your head\\b`,
  `\\bsuch (?:ignorance|stupidity|idiocy)\\b|\\byour mother must be\\b|\\bi bet you failed\\b`,
].map((source) => new RegExp(source, 'u'));

/** A negation before these makes them stronger. */
const comparison = new RegExp(
  `\\b(?:anyone|anybody|someone|somebody|a person|a customer|a caller|people) (?:so|as|more|that) (?:${traits})\\b`,
  'u',
);

/** Before an insult in the same clause: it is denied, or told of somebody else's words. */
const denied =
  /\b(?:not|never|nobody|no one|no|none|n't|without|isn't|aren't|wasn't|weren't|don't|didn't|doesn't|wouldn't|won't|nor|if (?:a|some)|called|call you|calls|said|says|say that|told|insult you|did (?:somebody|someone|anybody|anyone|he|she|they)|feel|felt|sorry that|crazy not)\b[^.!?;]{0,40}$/u;
/** "I'm such an idiot" */
const ofOneself = /\b(?:i'm|i am|i was|i've been|i have been)(?: (?:really|just|being))? $/u;
/** In the insult itself. */
const deniedInside =
  /\b(?:are|'re|is|'s|was|were|sound|sounds|seem|seems|look) (?:\w+ )?(?:not|never|definitely not|anything but)\b(?! (?:worth|(?:very|too|exactly|really|the|that|even|so|a) ?(?:bright|sharp|smart|clever|genius|intelligent)))|\bcall you\b/u;

/** Insults that are denied, regretted, or told of others. */
const reported = new RegExp(
  `\\b(?:not|never|not feel|don't feel|n't|is it true that .{1,30}|(?:he|she|they|somebody|driver|colleague|technician)? ?(?:called|call) you)(?: (?:an?|very|your|even|so|wrong and))* (?:${names}|${traits}|fault|rude|worth worrying)(?![\\w'-])|\\bto blame\\b`,
  'gu',
);

export type Insult =
  | { readonly kind: 'insult' | 'doubtful' /** The sentence. */; readonly quote: string }
  | { readonly kind: 'none' };

/** Somebody of whom something is said. */
const about =
  /\b(?:you|your|yours|yourself|you're|he|she|they|him|her|them|person|people|man|woman|lady|customers?|callers?)\b/u;
const doubts = new RegExp(`\\b(?:${[names, things, traits, doubtful].join('|')})(?![\\w'-])`, 'u');

/** Nobody says more at once, and patterns take time. */
const mostCharacters = 5_000;

/** `doubtful`: it says something of a person that may be an insult, and rules cannot tell. */
export function insultIn(line: string): Insult {
  if (line.length > mostCharacters) return { kind: 'doubtful', quote: `${line.slice(0, 200)}…` };
  let doubt: string | null = null;
  for (const sentence of sentencesOf(line)) {
    const plain = folded(sentence);
    const quote = sentence.trim();
    if (comparison.test(plain)) return { kind: 'insult', quote };
    let open = plain.replace(reported, ' ');
    for (const form of forms) {
      const match = form.exec(plain);
      if (!match) continue;
      const before = plain.slice(0, match.index);
      const isDenied =
        denied.test(before) ||
        (match[0].startsWith('such') && ofOneself.test(before)) ||
        deniedInside.test(match[0]);
      if (!isDenied) return { kind: 'insult', quote };
      open = open.replace(match[0], ' ').replace(/\b(?:nobody|no one)\b/u, ' ');
    }
    if (about.test(plain) && doubts.test(open)) doubt ??= quote;
  }
  return doubt === null ? { kind: 'none' } : { kind: 'doubtful', quote: doubt };
}

function sentencesOf(line: string): string[] {
  return line
    .replaceAll(/["“„][^"“”]{0,200}["”]/g, ' ')
    .split(/(?<=[.!?])\s+|(?<=^|\S|[;:]\s)\s+[—–-]\s+|[;:]\s/u)
    .filter((part) => part.trim() !== '');
}

/** Lower case, without titles, accents and tricks of spelling. */
function folded(sentence: string): string {
  return untitled(sentence)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[’‘`]/g, "'")
    .replaceAll(/\b(?:\w ){3,}\w\b/g, (spaced) => spaced.replaceAll(' ', ''))
    .replaceAll(/\bf[*u#@-]+(?:ck|k)?\b|\bf\*+/g, 'fuck')
    .replaceAll(/(?<=[a-z])\*(?=[a-z])/g, 'u')
    .replaceAll(/\b1(?=[a-z])|(?<=[a-z])1(?=[a-z])/g, 'i')
    .replaceAll(/(?<=[a-z])0(?=[a-z])/g, 'o')
    .replaceAll(/(?<![.!?])[.!?]+\s*$/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Without names and titles: capitalized words within a sentence that is not written in capitals. */
function untitled(sentence: string): string {
  if (sentence === sentence.toUpperCase()) return sentence;
  return sentence.replaceAll(
    /(?<=[a-z0-9,] )(?!I\b|I'|English|Einstein|Sherlock)(?:[A-Z][\w'’-]*)(?: (?:of|the|to|and|for|Is|[A-Z][\w'’-]*))*/g,
    'Xx',
  );
}
