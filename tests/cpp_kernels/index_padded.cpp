
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0,
                       const int64_t ks0,
                       const int64_t ks1)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(12L + ks0); x0+=static_cast<int64_t>(8L))
        {
            {
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(8L*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L))))))
                {
                    auto tmp0 = (-3L) + x0;
                    auto tmp1 = c10::convert<int64_t>(tmp0);
                    auto tmp2 = at::vec::VectorizedN<int64_t,2>::arange(tmp1, 1);
                    auto tmp3 = static_cast<int64_t>(0);
                    auto tmp4 = at::vec::VectorizedN<int64_t,2>(tmp3);
                    auto tmp5 = at::vec::VecMask<int64_t,2>(tmp2 >= tmp4);
                    auto tmp6 = ks0;
                    auto tmp7 = c10::convert<int64_t>(tmp6);
                    auto tmp8 = at::vec::VectorizedN<int64_t,2>(tmp7);
                    auto tmp9 = at::vec::VecMask<int64_t,2>(tmp2 < tmp8);
                    auto tmp10 = tmp5 & tmp9;
                    auto tmp11 = [&]
                    {
                        auto tmp12 =
                        [&]
                        {
                            __at_align__ std::array<int64_t, 8> tmpbuf;
                            #pragma GCC unroll 8
                            for (long x0_inner = 0; x0_inner < static_cast<int64_t>(8); x0_inner++)
                            {
                                if (tmp10.is_masked(x0_inner))
                                {
                                    tmpbuf[x0_inner] = static_cast<int64_t>(((-2L) + x0 + x0_inner < 0L) ? ((-2L) + ks1 + x0 + x0_inner) : ((-2L) + x0 + x0_inner));
                                }
                            }
                            return at::vec::VectorizedN<int64_t,2>::loadu(tmpbuf.data(), static_cast<int64_t>(8));
                        }
                        ()
                        ;
                        TORCH_CHECK(((at::vec::VecMask<int64_t,2>(tmp12 < at::vec::VectorizedN<int64_t,2>(ks1))) | ~(tmp10)).all_masked(), "index out of bounds: tmp12 < ks1");
                        auto tmp14 =
                        [&]
                        {
                            __at_align__ std::array<float, 8> tmpbuf;
                            #pragma GCC unroll 8
                            for (long x0_inner = 0; x0_inner < static_cast<int64_t>(8); x0_inner++)
                            {
                                if (tmp10.is_masked(x0_inner))
                                {
                                    tmpbuf[x0_inner] = in_ptr0[static_cast<int64_t>(((-2L) + x0 + x0_inner < 0L) ? ((-2L) + ks1 + x0 + x0_inner) : ((-2L) + x0 + x0_inner))];
                                }
                            }
                            return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(8));
                        }
                        ()
                        ;
                        return tmp14;
                    }
                    ;
                    auto tmp17 =
                    [&]
                    {
                        if (tmp10.all_zero())
                        {
                            return at::vec::Vectorized<float>(static_cast<float>(0.0));
                        }
                        else
                        {
                            auto tmp15 = tmp11();
                            auto tmp16 = at::vec::Vectorized<float>(static_cast<float>(0.0));
                            return decltype(tmp15)::blendv(tmp16, tmp15, tmp10.template cast<float,1>());
                        }
                    }
                    ()
                    ;
                    tmp17.store(out_ptr0 + static_cast<int64_t>(x0));
                }
                if(C10_UNLIKELY(x0 >= static_cast<int64_t>(8L*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))) && x0 < static_cast<int64_t>(12L + ks0)))
                {
                    auto tmp0 = (-3L) + x0;
                    auto tmp1 = c10::convert<int64_t>(tmp0);
                    auto tmp2 = at::vec::VectorizedN<int64_t,2>::arange(tmp1, 1);
                    auto tmp3 = static_cast<int64_t>(0);
                    auto tmp4 = at::vec::VectorizedN<int64_t,2>(tmp3);
                    auto tmp5 = at::vec::VecMask<int64_t,2>(tmp2 >= tmp4);
                    auto tmp6 = ks0;
                    auto tmp7 = c10::convert<int64_t>(tmp6);
                    auto tmp8 = at::vec::VectorizedN<int64_t,2>(tmp7);
                    auto tmp9 = at::vec::VecMask<int64_t,2>(tmp2 < tmp8);
                    auto tmp10 = tmp5 & tmp9;
                    auto tmp11 = [&]
                    {
                        auto tmp12 =
                        [&]
                        {
                            __at_align__ std::array<int64_t, 8> tmpbuf;
                            #pragma GCC unroll 8
                            for (long x0_inner = 0; x0_inner < static_cast<int64_t>(12L + ks0 + (-8L)*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))); x0_inner++)
                            {
                                if (tmp10.is_masked(x0_inner))
                                {
                                    tmpbuf[x0_inner] = static_cast<int64_t>(((-2L) + x0 + x0_inner < 0L) ? ((-2L) + ks1 + x0 + x0_inner) : ((-2L) + x0 + x0_inner));
                                }
                            }
                            return at::vec::VectorizedN<int64_t,2>::loadu(tmpbuf.data(), static_cast<int64_t>(12L + ks0 + (-8L)*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))));
                        }
                        ()
                        ;
                        TORCH_CHECK((at::vec::VecMask<int64_t,2>::set(at::vec::VecMask<int64_t,2>::from(1), ((at::vec::VecMask<int64_t,2>(tmp12 < at::vec::VectorizedN<int64_t,2>(ks1))) | ~(tmp10)), static_cast<int64_t>(12L + ks0 + (-8L)*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))))).all_masked(), "index out of bounds: tmp12 < ks1");
                        auto tmp14 =
                        [&]
                        {
                            __at_align__ std::array<float, 8> tmpbuf;
                            #pragma GCC unroll 8
                            for (long x0_inner = 0; x0_inner < static_cast<int64_t>(12L + ks0 + (-8L)*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))); x0_inner++)
                            {
                                if (tmp10.is_masked(x0_inner))
                                {
                                    tmpbuf[x0_inner] = in_ptr0[static_cast<int64_t>(((-2L) + x0 + x0_inner < 0L) ? ((-2L) + ks1 + x0 + x0_inner) : ((-2L) + x0 + x0_inner))];
                                }
                            }
                            return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(12L + ks0 + (-8L)*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))));
                        }
                        ()
                        ;
                        return tmp14;
                    }
                    ;
                    auto tmp17 =
                    [&]
                    {
                        if (tmp10.all_zero())
                        {
                            return at::vec::Vectorized<float>(static_cast<float>(0.0));
                        }
                        else
                        {
                            auto tmp15 = tmp11();
                            auto tmp16 = at::vec::Vectorized<float>(static_cast<float>(0.0));
                            return decltype(tmp15)::blendv(tmp16, tmp15, tmp10.template cast<float,1>());
                        }
                    }
                    ()
                    ;
                    tmp17.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(12L + ks0 + (-8L)*(c10::div_floor_integer(static_cast<int64_t>(12L + ks0), static_cast<int64_t>(8L)))));
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}

