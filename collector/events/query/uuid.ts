import type { Field } from '../../../schemas/fields.ts'

/** True when the field is Utf8 to callers and a UUID to ClickHouse. */
export const isUuidField = (field: Field): boolean => /^(Nullable\()?UUID\b/.test(field.columnType)
