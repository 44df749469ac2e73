import { testRoom } from '../pass.ts'

testRoom('activation', { charged: [], people: [], free: [], sampled: 3 })
