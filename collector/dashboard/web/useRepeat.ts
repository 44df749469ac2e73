import { useEffect, useRef } from 'preact/hooks'

/**
 * Repeats an action while the page is visible, each time after the previous one has ended. Failures are tried
 * again the next time. A hook.
 */
export function useRepeat(act: () => Promise<unknown>, everyMs: number, isWanted = true): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (!isWanted) return
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const wait = () => {
      timer = setTimeout(async () => {
        if (!document.hidden) await latest.current().catch(() => {})
        if (!isOver) wait()
      }, everyMs)
    }
    wait()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [isWanted])
}
