import { signal } from '@preact/signals'
import type { Session } from '../../api/client/index.ts'

/** Who is signed in; null: nobody; undefined: not known yet. */
export const session = signal<Session | null | undefined>(undefined)

/** The session, on pages that only somebody signed in is shown. A hook. */
export const useSession = (): Session => session.value!

/** Owners and admins may do in every project what its own admins may. */
export const isOrganizationAdmin = ({ member }: Session): boolean => member.role !== 'member'
