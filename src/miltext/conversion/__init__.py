"""Programs in another precision: fp32 as fp16, and fp16 as fp32."""
