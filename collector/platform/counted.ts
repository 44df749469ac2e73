/** Returns a number with its noun, which ends in "s" unless the number is 1: "1 visitor", "1,200 visitors". */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
