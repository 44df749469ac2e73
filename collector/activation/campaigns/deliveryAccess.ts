import { bearerWriteAccess } from '../../api/access/recordAccess.ts'
import type { Access } from '../../api/access/routeAccess.ts'

const { members: _, ...forKeys } = bearerWriteAccess
/** Who may deliver: as for other writes without members, for the DSP does it with a key. */
export const deliveryAccess: Access = forKeys
