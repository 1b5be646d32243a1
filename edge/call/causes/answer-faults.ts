/**
 * Faults in how an SDP answer uses our offered SRTP key (RFC 4568 section 5.1.3), with their wording for the call log,
 * the test call and the Warning. A call with such an answer ends as `bad_answer`. Pure.
 *
 *     our offer:   a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:<our key>
 *     the answer:  a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:<its key>      one line, same tag, same suite, own key
 */

export type AnswerFault = 'several_lines' | 'foreign_tag' | 'other_suite' | 'our_key';

/** Values of the peer, shortened to fit a sentence. */
export interface AnswerFacts {
  readonly lines: number;
  readonly tag: string;
  readonly offeredTag: string;
  readonly suite: string;
  readonly offeredSuite: string;
}

export const answerFaults: Readonly<Record<AnswerFault, (facts: AnswerFacts) => string>> = {
  several_lines: ({ lines }) =>
    `The answer has ${lines} a=crypto lines; it must select one from the offer (RFC 4568 section 5.1.3)`,
  foreign_tag: ({ tag, offeredTag }) =>
    `The answer has an a=crypto line with the tag "${tag}", the offer had the tag ${offeredTag}`,
  other_suite: ({ suite, tag, offeredSuite }) =>
    `The answer has the crypto suite "${suite}" under the tag ${tag}, for which ${offeredSuite} was offered`,
  our_key: () =>
    'The answer repeats the SRTP key of our offer; each side must use its own key (RFC 4568 section 5.1.3)',
};
