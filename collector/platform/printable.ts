/** A text from a file, for a terminal: control characters, which could move its cursor, become `\\xNN`. */
export const printable = (text: string): string =>
  text.replace(
    /[\0-\x08\x0b-\x1f\x7f-\x9f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
