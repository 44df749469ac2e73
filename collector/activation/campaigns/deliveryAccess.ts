import { bearerWriteAccess } from '../../api/access/recordAccess.ts'
import type { Access } from '../../api/access/routeAccess.ts'

const { members: _, ...forKeys } = bearerWriteAccess
/** Access to delivery routes: keys only, because the DSP authenticates with a key. */
export const deliveryAccess: Access = forKeys
