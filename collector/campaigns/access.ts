import type { Access } from '../access/access.ts'
import type { Principal } from '../access/principal.ts'
import { forbidden } from '../http/errors.ts'

/** Who may ask the campaign routes (spec: Project-scoped key behavior; Authentication, 6). */
export const access = {
  to: 'key',
  projectKeys: 'own project',
  keyRole: 'read',
  limit: 'data',
  members: true,
  bearerKey: true,
} as const satisfies Access

/** The same for what changes campaigns. */
export const writeAccess = { ...access, keyRole: 'write' } as const satisfies Access

const { members: _, ...forKeys } = writeAccess
/** The same without members: the DSP delivers with a key. */
export const deliveryAccess: Access = forKeys

/** Throws 403 for a test key: the sample is the same for everybody. */
export function requireLive({ mode }: Principal): void {
  if (mode === 'test') throw forbidden('A test key reads sample campaigns and changes nothing.')
}
