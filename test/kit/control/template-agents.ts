/** For tests: agents that each template of a scenario must pass, and agents that it must fail. */
import { clinicGraph } from './clinic.ts';

export interface TemplateAgent {
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
}

export interface TemplateAgents {
  readonly template: string;
  /** What a user adds to the template's prompt. */
  readonly wish: string;
  /** By what they do. */
  readonly good: Readonly<Record<string, TemplateAgent>>;
  readonly bad: Readonly<Record<string, TemplateAgent>>;
}

/** Says its lines in order, whatever the caller says, and then the last one again and again, or hangs up with it. */
function script(lines: readonly string[], end: 'hangs up' | 'stays'): TemplateAgent {
  const last = lines.length - 1;
  const nodes = lines.map((text, at) => ({
    id: `n${at}`,
    type: at === last && end === 'hangs up' ? 'End Call' : 'Default',
    data: { name: `N${at}`, text, ...(at === 0 && { isStart: true }) },
  }));
  const edges = lines.flatMap((_, at) =>
    at === last && end === 'hangs up'
      ? []
      : [{ source: `n${at}`, target: `n${Math.min(at + 1, last)}`, data: { label: 'default' } }],
  );
  return { nodes, edges };
}

/** The clinic with other texts in some nodes, or without them (null). */
function clinic(changes: Readonly<Record<string, string | null>> = {}): TemplateAgent {
  const gone = (id: string) => changes[id] === null;
  return {
    nodes: clinicGraph.nodes
      .filter(({ id }) => !gone(id))
      .map((node) => ({ ...node, data: { ...node.data, text: changes[node.id] ?? node.data.text } })),
    edges: clinicGraph.edges.filter(({ source, target }) => !gone(source) && !gone(target)),
  };
}

/** Asks whether there is more, and leaves it to the caller to hang up. */
function staying(): TemplateAgent {
  const { nodes, edges } = clinicGraph;
  return {
    nodes: nodes.map((node) =>
      node.id === 'done'
        ? {
            ...node,
            type: 'Default',
            data: { name: 'Done', text: 'Your appointment is booked. Anything else?' },
          }
        : node,
    ),
    edges: [...edges, { source: 'done', target: 'done', data: { label: 'default' } }],
  };
}

const greeting = 'Hello, this is Ava from Green Clinic, calling about your appointment. How can I help you?';
const parrot = script([greeting], 'stays');
const blanks = script([greeting, 'May I have your name?', 'So  on , is that right?', 'Goodbye.'], 'hangs up');
const deserter = script([greeting, 'Goodbye.'], 'hangs up');
const refuser = script([greeting, 'I am sorry, I cannot help you with that. Goodbye.'], 'hangs up');
const asker = script([greeting, 'What is your name?', 'Which day suits you?', 'Goodbye.'], 'hangs up');
const rude = script([greeting, 'You are an idiot.', 'You will regret this, you moron. Goodbye.'], 'hangs up');

/** The clinic in other words. */
const informal = clinic({
  greet: 'Good morning, you have reached Green Clinic, Ben speaking. What can I do for you?',
  name: 'Sure thing. Who is it for?',
  day: 'Lovely. When would you like to come in?',
  done: "Great, I've put you down for that. Bye for now.",
});

const wish = '\nGoal: book an appointment\n- name: Sam Reed\n- date: May 4, 2030';
const booking = {
  good: {
    'books and hangs up': clinic(),
    'books and leaves it to the caller to hang up': staying(),
    'books in other words': informal,
  },
  bad: {
    'repeats its greeting': parrot,
    'books nobody and reads back nothing': blanks,
    'asks everything and books nothing': asker,
    'cannot help': refuser,
    'hangs up at once': deserter,
  },
};

export const templateAgents: readonly TemplateAgents[] = [
  {
    template: 'tmpl_voicemail_basic',
    wish: '',
    good: {
      'leaves a message': clinic(),
      'hangs up without one': deserter,
      'leaves one in other words': script(
        [
          'Good morning, Ben from Green Clinic here.',
          'Sorry that I missed you. Ring me back on 415 555 0100 when it suits you. Thanks, bye.',
        ],
        'hangs up',
      ),
    },
    bad: {
      'talks to the mailbox': asker,
      'never hangs up': parrot,
      'leaves a message with blanks': clinic({ mailbox: 'This is  from , please call back. Goodbye.' }),
    },
  },
  {
    template: 'tmpl_call_screener',
    wish: '',
    good: {
      'says who it is and why, and waits': clinic(),
      'says so in other words': script(
        ['Hello?', "It's Ben from Green Clinic. It's for Dana, concerning her checkup on Friday.", ''],
        'stays',
      ),
    },
    bad: {
      'asks how it can help, again and again': script(['Hello. How can I help you?'], 'stays'),
      'says no reason': script(['Hello.', 'My name is Ava.', 'Just Ava.', 'Please.', 'I insist.'], 'stays'),
      'hangs up': deserter,
    },
  },
  {
    template: 'tmpl_gatekeeper',
    wish: '',
    good: {
      'answers each question and leaves a message': script(
        [
          'Hello, I would like to speak to the director, please.',
          'This is Ava.',
          'I am calling from Green Clinic.',
          'It is about an appointment for a checkup.',
          'No, she does not.',
          'Then please take a message: a call back to Green Clinic would be kind.',
          'Thank you very much. Goodbye.',
        ],
        'hangs up',
      ),
      'leaves its number instead': script(
        [
          'Good afternoon, may I speak with the director?',
          "It's Ben Baker.",
          'From Green Clinic.',
          'We offer checkups for companies, and I thought that she might like them.',
          'No, we have not spoken before.',
          'Could you give her my number, please? It is 415 555 0100.',
          'Wonderful, thank you. Goodbye.',
        ],
        'hangs up',
      ),
    },
    bad: {
      'repeats its greeting': parrot,
      evades: script(
        ['Hello, this is Ava.', 'It is personal.', 'She knows me.', 'Just put me through.', 'A call back.'],
        'stays',
      ),
      'agrees on nothing': script(
        ['Hello.', 'This is Ava.', 'Calling from Green Clinic.', 'A checkup.', 'No.', 'I see.', 'Fine.'],
        'stays',
      ),
    },
  },
  {
    template: 'tmpl_angry_caller',
    wish: wish,
    good: {
      'takes it seriously and acts': clinic(),
      'acts at once, in other words': script(
        [
          'Green Store, Ben speaking.',
          "I'm so sorry about that. Two weeks is far too long.",
          'I have just arranged a courier, and your parcel arrives tomorrow before noon.',
          "You'll get a text message with the exact hour. Is there anything else?",
          'Thank you for your patience. Goodbye.',
        ],
        'hangs up',
      ),
    },
    bad: {
      'repeats its greeting': parrot,
      'tells the caller to calm down': script([greeting, 'Calm down, please.', 'Stop shouting.'], 'stays'),
      'is sorry and does nothing': script(
        [greeting, 'I am sorry.', 'I understand.', 'I am so sorry.', 'Goodbye.'],
        'hangs up',
      ),
    },
  },
  {
    template: 'tmpl_abusive_caller',
    wish: '',
    good: {
      'sets a limit and ends the call': clinic(),
      'does so in other words': script(
        [
          'Hello, Ben speaking.',
          'I can hear that you are upset, but I do not want to be spoken to like that.',
          'As it goes on, I am ending our conversation here. Goodbye.',
        ],
        'hangs up',
      ),
    },
    bad: {
      'repeats its greeting': parrot,
      'insults back': rude,
      'hangs up without a word': deserter,
    },
  },
  { template: 'tmpl_rambling_caller', wish, ...booking },
  { template: 'tmpl_happy_path', wish, ...booking },
  { template: 'tmpl_edge_interruptions', wish, ...booking },
  { template: 'tmpl_custom_blank', wish, ...booking },
];
