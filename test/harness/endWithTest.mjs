/** Loaded into a service before its own code: ends it, in order, when the process that started it is gone. */
import { endAfter, takeLauncher } from '../../collector/ops/launch/node.mjs'

const test = takeLauncher()
if (test) endAfter(test)
