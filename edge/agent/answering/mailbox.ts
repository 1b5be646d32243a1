/**
 * Recognizes a mailbox by the words of its greeting: what it asks for, and when to speak. A person who offers to take a
 * message asks a question, which is not in these words. Pure; accents do not count.
 */

/** By language, for readers: all are looked for, because a network's greeting is often in another language than the agent's. */
const greetings: readonly RegExp[] = [
  // English
  /\b(?:after|at|following|wait for|hear) (?:the |a |this )?(?:tone|beep)\b/,
  /(?<!\b(?:to|can|could|may|you|i|i'll|or|not) )\b(?:leave|record) (?:me |us |him |her |them )?(?:a|your|the) (?:brief |short |detailed |voice )?message\b/,
  /\byou(?:'ve| have)? (?:have )?reached .{0,40}\b(?:voice ?mail|mailbox|answering (?:machine|service))\b/,
  /\b(?:voice (?:mail|messag(?:e|ing))|voicemail) (?:system|service|box)\b/,
  /\b(?:can't|cannot|can not|unable to|not able to) (?:come|get) to the phone\b/,
  /\b(?:can't|cannot|can not|unable to|not able to) (?:take|answer) your call\b/,
  // German
  /\bhinterlassen sie\b.{0,40}\bnachricht\b/,
  /\bnach dem (?:signal|piep|signalton|piepton|ton)\b/,
  /\b(?:mailbox|anrufbeantworter|sprachbox) von\b/,
  // French
  /\blaissez(?: |-)?(?:moi|nous)?(?: donc)? (?:un|votre) message\b/,
  /\b(?:apres|au) (?:le |du )?(?:bip|signal sonore)\b/,
  /\b(?:messagerie vocale|boite vocale|repondeur) d[eu']/,
  // Spanish
  /\bdej[ea]n? (?:un|su|tu) mensaje\b/,
  /\b(?:despues de|tras|al oir) (?:el|la|oir el|oir la|del) ?(?:tono|senal)\b|\bdespues del tono\b/,
  /\bbuzon de voz\b/,
  // Italian
  /\blasci(?:a|ate)? (?:un|il (?:suo|tuo|vostro)) messaggio\b/,
  /\bdopo il (?:segnale|bip|tono)\b/,
  /\bsegreteria telefonica\b/,
  // Portuguese
  /\bdeixe (?:a sua |sua |uma |o seu |seu |um )?(?:mensagem|recado)\b/,
  /\bapos o (?:sinal|bip|tom)\b/,
  /\b(?:caixa postal|correio de voz|caixa de mensagens)\b/,
  // Dutch
  /\b(?:laat|spreek) (?:een|uw|je|dan (?:een|uw|je))? ?(?:bericht|boodschap|naam)\b.{0,40}\b(?:achter|in)\b/,
  /\bna de (?:piep|toon|pieptoon)\b/,
];

/** Longest text that is looked at, characters: a greeting is shorter, and begins with what it is. */
const lookedAt = 1000;

/** @param text what the callee said, as transcribed */
export function isMailbox(text: string): boolean {
  const plain = text
    .slice(0, lookedAt)
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/\u2019/g, "'")
    .replace(/\s+/g, ' ');
  return greetings.some((pattern) => pattern.test(plain));
}
