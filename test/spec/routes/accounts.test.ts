import { testRoom } from '../pass.ts'

testRoom('accounts', { charged: [], people: [], free: [], sampled: 3 })
