const charsMax = 100

/** Turns text to the right or hides its order, so that it reads as another text than it is. */
const bidirectionalControls = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u
/** Control characters, line ends and invisible characters. */
const lineEnds = /[\p{Cc}\p{Zl}\p{Zp}\u0085]+/gu
const invisible = /\p{Cf}/gu
/** What mail programs make a link of. */
const linkStart = /:\/\/|www\./iu

/**
 * Returns text that a stranger may have chosen, such as a page title, for a mail or a chat. It is one line of at most 100
 * characters. Null without text, and for text that may become a link or has bidirectional controls.
 */
export function visitorText(value: unknown): string | null {
  if (typeof value !== 'string' || bidirectionalControls.test(value)) return null
  const line = value.toWellFormed().replace(lineEnds, ' ').replace(invisible, '')
  const text = line.replace(/\s+/gu, ' ').trim()
  // Full-width letters and signs form links too.
  if (text === '' || linkStart.test(text.normalize('NFKC'))) return null
  const chars = Array.from(text)
  return chars.length <= charsMax ? text : `${chars.slice(0, charsMax - 1).join('')}…`
}

/** Returns the path of a page's address as such a text, because its host and its query may be a stranger's too. */
export const visitorPath = (url: unknown): string | null =>
  typeof url === 'string' && URL.canParse(url) ? visitorText(new URL(url).pathname) : null
