/** Texts of the screen of personas. */
export const personas = {
  title: 'Personas',
  intro:
    'A persona is an agent that follows instructions instead of a graph. Talk calls the version in production.',
  head: { name: 'Name', role: 'Role', numbers: 'Numbers', changed: 'Changed', talk: 'Call' },
  empty: 'No personas yet.',
  emptyNext: 'POST /v1/personas creates one.',
} as const;
