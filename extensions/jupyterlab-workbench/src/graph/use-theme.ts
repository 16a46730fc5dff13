// The theme's colours where an element stands, and again when the theme changes.

import { useEffect, useState } from "react";
import { onTheme, readTheme, type Theme } from "./theme";

export function useTheme(host: React.RefObject<HTMLElement>): Theme | null {
  const [theme, setTheme] = useState<Theme | null>(null);
  useEffect(() => {
    const read = (): void => setTheme(host.current && readTheme(host.current));
    read();
    return onTheme(read);
  }, [host]);
  return theme;
}
