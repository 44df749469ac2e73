import type { Field } from '../../../schemas/fields.ts'

/** Whether a field is Utf8 for callers and a UUID in ClickHouse. */
export const isUuidField = (field: Field): boolean => /^(Nullable\()?UUID\b/.test(field.columnType)
