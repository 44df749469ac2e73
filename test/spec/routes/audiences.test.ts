import { testRoom } from '../pass.ts'

testRoom('audiences', { charged: [], people: [], free: ['sampleAudience'], sampled: 3 })
