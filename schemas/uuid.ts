const hex4 = '[0-9a-f]'.repeat(4)
/** Written out: every beacon and event is asked, and counted repeats take V8 three times as long. */
const uuid = RegExp(`^${hex4}${hex4}-${hex4}-${hex4}-${hex4}-${hex4}${hex4}${hex4}$`, 'i')

/** True for the hyphenated text form of a UUID, in either case; any version. */
export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && uuid.test(value)
