;; SPDX-License-Identifier: Apache-2.0
;; A thread for each kind of wait, named after it.
(defvar *mutex* (sb-thread:make-mutex))
(defvar *semaphore* (sb-thread:make-semaphore))

(defun start (name function)
  (sb-thread:make-thread
   (lambda ()
     (sb-alien:alien-funcall
      (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:c-string))
      15 name)
     (loop (funcall function)))))

(start "timer-holder" (lambda () (sb-thread:with-mutex (*mutex*) (sleep 0.06)) (sleep 0.006)))
(dotimes (i 2)
  (start "lock-mutex" (lambda () (sb-thread:with-mutex (*mutex*)) (sleep 0.001))))
(start "timer-producer" (lambda () (sleep 0.06) (sb-thread:signal-semaphore *semaphore*)))
(start "work-semaphore" (lambda () (sb-thread:wait-on-semaphore *semaphore*)))
(loop (sleep 1000))
