/** Whether the page can be seen. Behind other tabs it reads nothing: nobody looks, and control serves those who do. */
import { signal } from '@preact/signals';

export const visible = signal(true);

export function watchVisibility(): void {
  const look = () => {
    visible.value = document.visibilityState === 'visible';
  };
  document.addEventListener('visibilitychange', look);
  look();
}
