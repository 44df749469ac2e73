/**
 * Loaded into a service before its own code: stops it in order when the process that started it has ended.
 */
import { endAfter, takeLauncher } from '../../collector/ops/launch/node.mjs'

const test = takeLauncher()
if (test) endAfter(test)
