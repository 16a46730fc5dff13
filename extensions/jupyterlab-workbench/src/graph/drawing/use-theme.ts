// The theme's colours at an element, read again when the theme changes.

import { useEffect, useState } from "react";
import { onTheme, readTheme, type Theme } from "./theme";

export function useTheme(host: React.RefObject<HTMLElement>): Theme | null {
  const [theme, setTheme] = useState<Theme | null>(null);
  useEffect(() => {
    const read = (): void => setTheme(host.current?.isConnected ? readTheme(host.current) : null);
    read();
    const forget = onTheme(read);
    // An element outside of a document has no colours yet; it has them with its first size.
    const observer = new ResizeObserver(() => {
      if (!host.current?.isConnected) return;
      observer.disconnect();
      read();
    });
    if (host.current && !host.current.isConnected) observer.observe(host.current);
    return () => {
      observer.disconnect();
      forget();
    };
  }, [host]);
  return theme;
}
