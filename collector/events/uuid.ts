import type { Field } from '../../schemas/fields.ts'

/** True for the hyphenated text form of a UUID, in either case; any version. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** True when the field is Utf8 to callers and a UUID to ClickHouse. */
export const isUuidField = (field: Field): boolean => /^(Nullable\()?UUID\b/.test(field.columnType)
