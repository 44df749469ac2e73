import { useEffect, useRef } from 'preact/hooks'

/**
 * Does something again and again while the page is seen, each time after the one before has ended; what fails is tried
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
