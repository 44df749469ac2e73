import type { Field } from './field.ts'

/** Who an event’s visitor is. */
export const identityFields: readonly Field[] = [
  {
    name: 'hem',
    columnType: 'Nullable(String)',
    alias: "nullIf(dictGet('identity_by_cookie', 'hem', (organization_id, cookie_id)), '')",
    dataType: 'Utf8',
    nullable: true,
    tier: 'resolution_hem',
    group: 'identity',
    description:
      'Hashed e-mail: SHA-256, hex, of the trimmed, lower-cased address. Null while nobody knows the visitor.',
  },
]
