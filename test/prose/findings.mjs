/** What is wrong with a text: avoided words and sentences that are too long. */
import { avoid, wordsMax } from './avoid.mjs'

const patterns = avoid.map(({ words, allow, use }) => ({
  words: new RegExp(words, 'gi'),
  allow,
  use,
}))

/** Returns messages. `text` is one paragraph, cell or string, in which code is already replaced by `X`. Lines of diagrams are skipped. */
export function findingsOf(text) {
  const plain = text
    .replace(/`[^`]*`/g, 'X')
    .replace(/https?:\/\/\S+/g, 'X')
    .replace(/^.*[├└│▶─].*$/gm, '\n')
    .split(/\n {2,}|\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' '))
    .join('\n\n')
  const found = patterns.flatMap(({ words, allow, use }) =>
    [...(allow ? plain.replace(allow, 'X') : plain).matchAll(words)].map(
      ([match]) => `"${match.trim()}": write ${use}`,
    ),
  )
  const long = longSentences(plain).map(
    (sentence) => `${wordsOf(sentence)} words (at most ${wordsMax}): "${sentence.slice(0, 60)}…"`,
  )
  return [...found, ...long]
}

/** The sentences of a text that have more than the allowed words. */
export const longSentences = (text) =>
  sentencesOf(text).filter((sentence) => wordsOf(sentence) > wordsMax)

/** The sentences of a paragraph. */
export const sentencesOf = (text) =>
  text
    .split(/(?<=[.!?…]["”’)`*_]{0,2})\s+(?=["“‘(`*_]{0,2}[A-Z0-9X–—-])|\n\s*\n|\n(?=\s*[-*|] )/)
    .map((sentence) => sentence.trim())
    .filter(Boolean)

/** How many words a text has. */
export const wordsOf = (text) =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
