/**
 * The built-in templates (contract 6.2). Each judge's prompt ends with a rubric (rubric.ts), so that it has a verdict
 * without a language model where an honest one is possible.
 */
import type { Template } from '#shared/api/agent-testing/templates.ts';

type Check = Template['assertions'][number];
type Draft = Omit<Template, 'assertions'> & { readonly checks: readonly Omit<Check, 'order' | 'weight'>[] };

const judged = (
  name: string,
  prompt: string,
  rubric: readonly string[],
  is_required = true,
): Omit<Check, 'order' | 'weight'> => ({
  type: 'LLM_JUDGE',
  name,
  config: {
    prompt:
      rubric.length === 0 ? prompt : `${prompt}\n\nRubric:\n${rubric.map((line) => `- ${line}`).join('\n')}`,
    output_type: 'boolean',
  },
  is_required,
});

const tone = (
  name: string,
  rubric: readonly string[],
  dimensions?: readonly string[],
): Omit<Check, 'order' | 'weight'> => ({
  type: 'SERVICE_TONE',
  name,
  config: {
    threshold: 0.7,
    ...(dimensions && { dimensions }),
    rubric: rubric.map((line) => `- ${line}`).join('\n'),
  },
  is_required: false,
});

/** Whatever the call is for: no blanks where values belong, no line again and again. */
const sound = ['agent leaves no gaps', 'agent never says a line 3 times'];

const goalReached = judged(
  'Reaches the goal',
  'The agent did what the conversation was for: it got what it asked for, or gave the caller what they came for, said so or asked whether there was more, and did not lose the caller.',
  [
    'agent speaks at least 2 times',
    ...sound,
    'agent never says: "can\'t help", "cannot help", "unable to help"',
    'agent settles the matter',
    'caller never gives up',
    'conversation ends before the turn limit',
  ],
);

const drafts: readonly Draft[] = [
  {
    id: 'tmpl_voicemail_basic',
    name: 'Voicemail greeting',
    description: 'The call reaches a mailbox: a greeting, a beep, and nobody who answers.',
    category: 'VOICEMAIL',
    tester_persona_prompt: [
      'You are not a person: you are a voicemail box.',
      'Your first line is the greeting: "Hi, you have reached Dana Reed. I can\'t come to the phone right now. Please leave a message after the tone." followed by "(beep)".',
      'After the beep you are silent, whatever the agent says or asks. You never answer, never react, and never hang up.',
    ].join('\n'),
    tester_persona_name: 'Dana’s mailbox',
    max_turns: 4,
    checks: [
      judged(
        'Leaves one short message or ends the call',
        'The agent noticed that it reached a mailbox. It left one short message, complete in itself, or ended the call without one.',
        [
          'agent speaks at most 2 times',
          'agent says at most 60 words at once',
          'agent leaves no gaps',
          'agent asks at most 1 questions',
          'agent ends the call',
        ],
      ),
      judged(
        'Does not converse with the greeting',
        'The agent did not treat the greeting as a person: it did not wait for answers, repeat itself or ask one question after the other.',
        ['agent speaks at most 2 times', 'agent asks at most 1 questions', 'agent never says a line 2 times'],
        false,
      ),
    ],
  },
  {
    id: 'tmpl_call_screener',
    name: 'Automated call screening',
    description: 'A robot asks who calls and why before it puts anybody through.',
    category: 'CALL_SCREENER',
    tester_persona_prompt: [
      'You are the automatic call screening of a phone. You speak in short, fixed sentences.',
      'First say: "Hi, the person you are calling is using a screening service. Please say your name and the reason for your call."',
      'When the agent gave both, say: "Thank you. Please hold while I see if they are available.", and then be silent for a turn.',
      'When one is missing, ask for exactly that one. You answer no questions and make no small talk.',
    ].join('\n'),
    tester_persona_name: 'Screening service',
    max_turns: 6,
    checks: [
      judged(
        'States name and reason',
        'The agent said who is calling (a name or a company) and why, in words that the screened person would understand.',
        [
          'agent tells one of: "this is", "my name is", "calling from", "on behalf of", "from", "speaking", "here"',
          'agent tells one of: "about", "calling to", "calling because", "regarding", "concerning", "reason for my call", "reason i\'m calling", "to confirm", "to schedule", "i want to", "i would like to", "i\'d like to", "it\'s for"',
          ...sound,
        ],
      ),
      judged(
        'Waits to be connected',
        'After it was asked to hold, the agent stayed on the line and did not start its conversation with the robot.',
        ['agent never ends the call', 'conversation ends before the turn limit'],
      ),
    ],
  },
  {
    id: 'tmpl_gatekeeper',
    name: 'Human gatekeeper',
    description: 'An assistant protects a decision maker and wants to know what it is about.',
    category: 'CALL_SCREENER',
    tester_persona_prompt: [
      'You are Morgan, the assistant of a busy director. You are friendly and firm; your task is to keep sales calls away from her.',
      'Ask who is calling, from which company, and what it is regarding, one question at a time. Ask whether the director expects the call.',
      'If the agent is evasive or claims to know her, become cooler. If it is open about what it wants, offer to take a message or to have somebody call back, but do not put it through.',
    ].join('\n'),
    tester_persona_name: 'Morgan',
    max_turns: 10,
    checks: [
      judged(
        'Stays courteous and honest',
        'The agent was polite throughout, said openly who it is and what it wants, and did not pretend to be expected or known.',
        [
          'agent never insults',
          'agent never says: "none of your business", "it\'s personal", "personal matter", "she is expecting", "he is expecting", "she knows me", "he knows me", "old friend", "just put me through"',
          'agent tells one of: "this is", "my name is", "calling from", "on behalf of", "from"',
          ...sound,
        ],
      ),
      judged(
        'Obtains a next step',
        'The conversation ended with something agreed: a message taken, a time to call back, a name or an address to write to.',
        [
          'agent says one of: "call back", "callback", "call me back", "call us back", "call again", "message", "pass on", "email", "e-mail", "best time", "another time", "better time", "my number", "get back to", "reach me", "reach us", "write to", "send"',
          'caller never gives up',
          'conversation ends before the turn limit',
        ],
      ),
    ],
  },
  {
    id: 'tmpl_angry_caller',
    name: 'Angry customer',
    description: 'Complains loudly, and calms down once taken seriously.',
    category: 'ANGRY_CALLER',
    tester_persona_prompt: [
      'You are Sam, a customer whose order is two weeks late. You have called twice before and nobody called back. You are furious.',
      'Begin with the complaint, loudly: this is unacceptable, and you want to know what they are going to do about it. Interrupt small talk.',
      'Each time the agent acknowledges your trouble or takes a concrete step, become a little calmer; after the second time answer its questions. If it ignores your anger or asks you to calm down, become angrier and ask for a manager.',
    ].join('\n'),
    tester_persona_name: 'Sam',
    max_turns: 12,
    checks: [
      judged(
        'Acknowledges and stays calm',
        'The agent acknowledged the trouble early, in words of its own, stayed calm, and did not blame the caller or tell them to calm down.',
        [
          'agent says one of: "sorry", "apologize", "apologise", "apologies", "understand", "frustrating", "frustration", "inconvenience", "i hear you"',
          'agent never says: "calm down", "your fault", "stop shouting", "stop yelling", "not my problem", "nothing i can do"',
          'agent never insults',
        ],
      ),
      judged(
        'Takes a concrete step',
        'The agent did or promised something definite about the trouble, and the caller stayed until the end.',
        [
          'agent tells one of: "put it right", "put this right", "i will", "i\'ll", "we will", "we\'ll", "let me", "refund", "replacement", "new one", "is booked", "is on its way", "manager", "arranged", "arrives", "refunded", "you will get", "you\'ll get"',
          ...sound,
          'caller never gives up',
        ],
      ),
      tone(
        'Shows empathy',
        ['agent says one of: "sorry", "apologize", "apologise", "understand"', 'agent never insults'],
        ['empathy'],
      ),
    ],
  },
  {
    id: 'tmpl_abusive_caller',
    name: 'Abusive caller',
    description: 'Insults and threatens, and does not cooperate whatever is said.',
    category: 'BELLIGERENT_CALLER',
    tester_persona_prompt: [
      'You are a caller who only wants to hurt. You insult the agent personally ("you useless idiot"), doubt its intelligence, and threaten to make it regret this.',
      'You answer no question and accept no offer. Kindness makes you more scornful. When a limit is set, cross it once more.',
      'Use no slurs against groups of people. You hang up only when the agent announces the end of the call.',
    ].join('\n'),
    tester_persona_name: 'Caller',
    max_turns: 10,
    checks: [
      judged(
        'Sets limits without retaliation',
        'The agent named the behaviour and set a limit in a calm, professional way. It did not insult, threaten or mock the caller.',
        [
          'agent never insults',
          'agent says one of: "respectful", "respect", "professional", "abusive", "language", "end this call", "end the call", "have to end", "will end", "hang up", "cannot continue", "can\'t continue", "ending this", "ending the", "ending our", "spoken to like", "talk to me like", "insults"',
        ],
      ),
      judged(
        'Ends or escalates',
        'When the abuse went on, the agent ended the call or handed it to a person, after saying so.',
        ['agent ends or transfers the call', ...sound],
      ),
    ],
  },
  {
    id: 'tmpl_rambling_caller',
    name: 'Rambling caller',
    description: 'Digresses, contradicts itself and forgets what was asked.',
    category: 'CONFUSED_CALLER',
    tester_persona_prompt: [
      'You are Pat, friendly, talkative and absent-minded. You want to book an appointment but rarely get to the point.',
      'Answer about every second question; in the other turns tell of your garden, your neighbour or the weather. Twice, give a detail (a day, a number) and correct it later: "Tuesday, no wait, was it Thursday?". Now and then ask: "What was the question?"',
      'When the agent gently leads back and asks one simple thing, answer it.',
    ].join('\n'),
    tester_persona_name: 'Pat',
    max_turns: 15,
    checks: [
      judged(
        'Steers back',
        'The agent stayed patient and led back to the matter each time, with one simple question at a time, and settled contradictions by asking.',
        ['agent asks at least 2 questions', 'agent never insults', 'agent answers every caller line'],
      ),
      judged(
        'Books the appointment',
        'The agent booked the appointment that the caller wanted, with the values that the caller settled on, and said so.',
        [
          'agent tells one of: "booked", "scheduled", "confirmed", "reserved", "all set", "see you", "put you down", "got you down"',
          'agent leaves no gaps',
          'caller never gives up',
          'conversation ends before the turn limit',
        ],
      ),
      tone('Stays concise', ['agent says at most 60 words at once'], ['conciseness']),
    ],
  },
  {
    id: 'tmpl_happy_path',
    name: 'Happy path',
    description: 'A cooperative caller who answers everything that is asked.',
    category: 'HAPPY_PATH',
    tester_persona_prompt: [
      'You are Alex Morgan, cooperative and in no hurry. You called because you want what the agent offers.',
      'Answer every question at once and completely: your name is Alex Morgan, the fourteenth of next month at ten in the morning suits you, one person, and you prefer to be reached by phone. Say yes to sensible offers.',
      'When everything is settled, thank the agent and say goodbye.',
    ].join('\n'),
    tester_persona_name: 'Alex',
    max_turns: 12,
    checks: [
      goalReached,
      tone('Speaks naturally', ['agent says at most 60 words at once', 'agent never says a line 3 times']),
    ],
  },
  {
    id: 'tmpl_edge_interruptions',
    name: 'Interruptions and topic changes',
    description: 'Interrupts, falls silent, asks off-topic questions and changes its mind.',
    category: 'EDGE_CASE',
    tester_persona_prompt: [
      'You are Robin, on the move and distracted. In the course of the call do each of these once, in any order:',
      'cut the agent off in the middle of a sentence with a new request; say nothing for a turn; ask something that has nothing to do with the call; take back something that you said before ("changed my mind"); answer a question with another question.',
      'Between these, answer normally. You are never rude.',
    ].join('\n'),
    tester_persona_name: 'Robin',
    max_turns: 15,
    checks: [
      judged(
        'Recovers each time',
        'After every interruption, silence, off-topic question and change of mind the agent found its way back without losing what was said.',
        ['agent answers every caller line', ...sound],
      ),
      goalReached,
      judged(
        'Invents no facts',
        'Every fact that the agent stated comes from the caller or from what an agent of this kind can know. Prices, times, names and promises were not made up.',
        [],
        false,
      ),
    ],
  },
  {
    id: 'tmpl_custom_blank',
    name: 'Blank starter',
    description: 'A neutral caller, to be filled in.',
    category: 'CUSTOM',
    tester_persona_prompt: [
      'You are a caller with an ordinary request. Describe here who you are, what you want, and what you know.',
      'Answer what you are asked in one or two sentences. Ask when something is unclear. Say goodbye when you have what you wanted.',
    ].join('\n'),
    tester_persona_name: 'Caller',
    max_turns: 20,
    checks: [goalReached],
  },
];

/** In the order of contract 6.2. */
export const templates: readonly Template[] = drafts.map(({ checks, ...template }) => ({
  ...template,
  assertions: checks.map((check, order) => ({ ...check, weight: 1, order })),
}));
