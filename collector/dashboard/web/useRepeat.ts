import { useEffect } from 'preact/hooks'

/** Does something again and again while the page is seen, each time after the one before has ended. A hook. */
export function useRepeat(act: () => Promise<void>, everyMs: number, isWanted = true): void {
  useEffect(() => {
    if (!isWanted) return
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const wait = () => {
      timer = setTimeout(async () => {
        if (!document.hidden) await act()
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
