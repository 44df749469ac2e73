import { signal } from '@preact/signals'
import type { Session } from '../../api/client/index.ts'

/** The session; null: not signed in; undefined: not loaded yet. */
export const session = signal<Session | null | undefined>(undefined)

/** The session, on pages that require one. A hook. */
export const useSession = (): Session => session.value!

/** Owners and admins may do in every project what its own admins may. */
export const isOrganizationAdmin = ({ member }: Session): boolean => member.role !== 'member'
