# r1 = the sum of (a[i] - b[i])^2; a lies at 0 to 255, b at 256 to 511
      li   r1, 0
      li   r2, 0
      li   r3, 256
loop: ld   r4, r2, 0
      ld   r5, r2, 256
      sub  r6, r4, r5
      mul  r7, r6, r6
      add  r1, r1, r7
      addi r2, r2, 1
      blt  r2, r3, loop
      halt
