/** What listeners say, by language: words, and several words that together mean the same. Accents do not count. */

interface ListeningWords {
  readonly words: string;
  readonly phrases: readonly string[];
}

/** Sounds that all of these languages share. */
export const sounds =
  'mhm mmhm mmhmm mm mmm mmmm hm hmm hmmm uhhuh uhuh aha ajá aham uhum ah eh oh ooh ok okay okey';

export const listeningWords: Readonly<Record<string, ListeningWords>> = {
  en: {
    words:
      'uh huh um umm er erm yeah yep yup yes ya k right sure alright good great fine nice cool exactly absolutely ' +
      'definitely totally',
    phrases: [
      'i see',
      'got it',
      'all right',
      'of course',
      'i understand',
      "that's right",
      'makes sense',
      'go on',
      'go ahead',
    ],
  },
  de: {
    words:
      'ja jaja jo jep jawohl genau gut klar sicher stimmt richtig ach achso so na schön super prima toll äh ähm eben ' +
      'verstehe verstanden natürlich absolut selbstverständlich',
    phrases: [
      'alles klar',
      'in ordnung',
      'ich verstehe',
      'das stimmt',
      'sehr gut',
      'sehr schön',
      'ist gut',
      'passt schon',
      'reden sie weiter',
      'sprechen sie weiter',
      'machen sie weiter',
    ],
  },
  fr: {
    words:
      "oui ouais ouaip mouais euh hein ben bon bien voilà d'accord exact exactement parfait entendu compris super " +
      'certes effectivement absolument évidemment continuez',
    phrases: [
      'bien sûr',
      'bien entendu',
      'je vois',
      'je comprends',
      'très bien',
      "c'est ça",
      "c'est vrai",
      'tout à fait',
      'ça marche',
      'en effet',
      'allez-y',
    ],
  },
  es: {
    words:
      'sí ya vale bien bueno claro exacto exactamente perfecto correcto cierto entiendo entendido comprendo genial sip ' +
      'dale seguro adelante siga',
    phrases: [
      'por supuesto',
      'ya veo',
      'de acuerdo',
      'muy bien',
      'está bien',
      'así es',
      'eso es',
      'claro que sí',
      'es verdad',
      'desde luego',
    ],
  },
  it: {
    words:
      "sì già bene beh certo certamente esatto esattamente giusto perfetto capito capisco ecco vero ottimo d'accordo " +
      'infatti ovviamente',
    phrases: [
      'va bene',
      'ho capito',
      'è vero',
      'molto bene',
      'come no',
      'di sicuro',
      'vada avanti',
      'certo che sì',
    ],
  },
  pt: {
    words:
      'sim tá pois certo claro exato exatamente exacto exactamente bem bom beleza entendi entendo percebo percebi ' +
      'compreendo perfeito ótimo isso certamente',
    phrases: [
      'pois é',
      'pois sim',
      'tudo bem',
      'está bem',
      'está bom',
      'tá bom',
      'muito bem',
      'com certeza',
      'é verdade',
      'de acordo',
      'isso mesmo',
      'estou a ver',
      'pode continuar',
    ],
  },
  nl: {
    words:
      'ja jaja jep oké goed prima precies inderdaad klopt zeker natuurlijk tuurlijk juist mooi leuk ach nou snap duidelijk',
    phrases: [
      'dat klopt',
      'ik snap het',
      'ik begrijp het',
      'is goed',
      'dat is goed',
      'heel goed',
      'helemaal goed',
      'in orde',
      'ga door',
      'ga verder',
    ],
  },
};
