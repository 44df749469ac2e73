/** Why a line is rejected, and what that means. The order is that of their numbers: new ones go to the end. */
export const reasons = {
  empty_line: 'there is nothing on the line',
  too_long: 'the line is longer than 64 KiB',
  not_utf8: 'its bytes are no UTF-8',
  nul_byte: 'it holds a NUL byte',
  unclosed_quote: 'a quote is not closed within 64 KiB; the lines after it are read on their own',
  text_after_quote: 'something other than a delimiter follows a closed quote',
  wrong_field_count: 'it has more or fewer fields than the header',
  not_json: 'it is no JSON',
  no_value: 'the column is empty, missing, or no text',
  not_an_email: 'the value is no e-mail address',
  not_a_hem: 'the value is no SHA-256 in 64 hexadecimal digits',
  not_a_domain: 'the value is no domain',
  not_a_cookie_id: 'the value is no uuid',
} as const

export type Reason = keyof typeof reasons
export const reasonNames = Object.keys(reasons) as Reason[]

/** What an answer says of a rejected line. */
export const rejectedLine = ({ line, reason }: { line: number; reason: Reason }) => ({
  line,
  reason,
  index: line - 1,
  path: '',
  code: reason,
  message: reasons[reason],
})
