/** The body of a port request, from the fields of its form. Pure. */
import type { RequestParts } from '../../api/client.ts';

type PortOrder = RequestParts<'POST /v1/sip/port/initiate'>['body'];

/** Texts apart from one another by lines, blanks or commas. */
export function listOf(text: string): string[] {
  return text.split(/[\n,;]+/).flatMap((one) => {
    const trimmed = one.trim();
    return trimmed === '' ? [] : [trimmed];
  });
}

/** What is empty is left out: the API says what is missing. */
export function orderOf(data: FormData): PortOrder {
  const text = (name: string) => String(data.get(name) ?? '').trim();
  const given = (name: string, field: string) => (text(name) === '' ? {} : { [field]: text(name) });
  const documents = data.getAll('document').map(String);
  return {
    phone_numbers: listOf(text('numbers')),
    losing_carrier_information: {
      customer_type: text('type'),
      ...given('business', 'business_name'),
      ...given('first', 'first_name'),
      ...given('last', 'last_name'),
      ...given('email', 'authorized_representative_email'),
      ...given('account', 'account_number'),
      ...given('telephone', 'account_telephone_number'),
      ...(text('notify') !== '' && { notification_emails: listOf(text('notify')) }),
      address: {
        street: text('street'),
        city: text('city'),
        state: text('state'),
        zip: text('zip'),
        ...given('country', 'country'),
      },
    },
    ...given('date', 'target_port_date'),
    ...given('pin', 'pin'),
    ...(documents.length > 0 && { documents }),
  };
}
