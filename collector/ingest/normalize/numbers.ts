/** Masks card and social security numbers in texts and URLs, and leaves all other numbers unchanged. */

const mask = '***'

/** Separators between the groups of a number, also in URLs. */
const gap = '(?:[ +.\\u00a0-]|%20)'
/** A number with the length of a card number, in one piece or in groups of cards, that stands alone. */
const cardLike = RegExp(
  `(%[\\da-f]{2}|(?<![\\d%]))(\\d{13,19}|(?:\\d{4}${gap}){3}\\d{4}|\\d{4}${gap}\\d{6}${gap}\\d{4,5})(?!\\d)`,
  'gi',
)
/** The ranges of Visa, Mastercard, American Express, Diners Club, JCB, Discover, UnionPay and Maestro, with their lengths. */
const ofNetwork = RegExp(
  `^(?:${[
    '4(?:\\d{12}|\\d{15}|\\d{18})',
    '5[1-5]\\d{14}',
    '2(?:22[1-9]|2[3-9]\\d|[3-6]\\d\\d|7[01]\\d|720)\\d{12}',
    '3[47]\\d{13}',
    '3(?:0[0-5]|[689]\\d)\\d{11}',
    '35(?:2[89]|[3-8]\\d)\\d{12}',
    '(?:6011|64[4-9]\\d|65\\d\\d|62\\d\\d)\\d{12,15}',
    '(?:50|5[6-8]|63|67)\\d{11,17}',
  ].join('|')})$`,
)
/** A social security number of the United States in an assigned range. */
const socialSecurity =
  /(%[\da-f]{2}|(?<![\d%-]))(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])/gi

/** Whether the check digit at the end is correct (ISO/IEC 7812-1). */
function hasCheckDigit(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits.at(-1 - at)) * (1 + (at % 2))
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

/** Returns the text with `***` in place of each number. */
export function withoutNumbers(text: string): string {
  if (!/\d{3}/.test(text)) return text
  return text
    .replace(cardLike, (all, before: string, number: string) => {
      const digits = number.replace(/%20|\D/g, '')
      return ofNetwork.test(digits) && hasCheckDigit(digits) ? before + mask : all
    })
    .replace(socialSecurity, `$1${mask}`)
}
