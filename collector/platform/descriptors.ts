import { readFileSync } from 'node:fs'

/** Descriptors that a worker keeps for the spool, its stores and other servers. */
const ownDescriptors = 256

/** Returns how many files and connections a process may open; null if the system does not tell. */
export function descriptorsMax(pid: number | 'self' = 'self'): number | null {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8')
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? NaN) || null
  } catch {
    return null
  }
}

/**
 * Returns how many connections a worker can have open. Without a free descriptor, it could neither write events nor
 * reach a store, so it closes further connections earlier.
 */
export const openConnectionsMax = (wanted: number, descriptors = descriptorsMax()): number =>
  descriptors === null ? wanted : Math.max(1, Math.min(wanted, descriptors - ownDescriptors))

/** Describes a limit of descriptors that allows fewer connections than FOOTFALL_CONNECTIONS_MAX; null if it suffices. */
export function lackOfDescriptors(wanted: number, descriptors = descriptorsMax()): string | null {
  const possible = openConnectionsMax(wanted, descriptors)
  if (possible === wanted) return null
  return `a process may open ${descriptors} files, so each worker accepts ${possible} connections instead of ${wanted} (FOOTFALL_CONNECTIONS_MAX). Raise the limit to ${wanted + ownDescriptors} (LimitNOFILE of systemd, ulimit -n), or lower the setting`
}
