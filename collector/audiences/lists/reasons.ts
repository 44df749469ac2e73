/** Reasons for rejected lines. Their order gives their numbers: add new ones at the end. */
export const reasons = {
  empty_line: 'the line is empty',
  too_long: 'the line is longer than 64 KiB',
  not_utf8: 'the line is not valid UTF-8',
  nul_byte: 'the line contains a NUL byte',
  unclosed_quote: 'a quote is not closed within 64 KiB; later lines are read separately',
  text_after_quote: 'something other than a delimiter follows a closed quote',
  wrong_field_count: 'the line has more or fewer fields than the header',
  not_json: 'the line is not valid JSON',
  no_value: 'the column is empty, missing or not a string',
  not_an_email: 'the value is not an e-mail address',
  not_a_hem: 'the value is not a SHA-256 hash in 64 hexadecimal digits',
  not_a_domain: 'the value is not a domain',
  not_a_cookie_id: 'the value is not a UUID',
} as const

export type Reason = keyof typeof reasons
export const reasonNames = Object.keys(reasons) as Reason[]

export const rejectedLine = ({ line, reason }: { line: number; reason: Reason }) => ({
  line,
  reason,
  index: line - 1,
  path: '',
  code: reason,
  message: reasons[reason],
})
