/// Frames and messages through memory that the processes of one user share: [ShmLink].
package verbena.nic.link.shm;
